// Package published looks at the folders of the published data sets that the paper uses, COCO 2014 and MSR-VTT, before
// anything is trained on them: whether the files are there under the names that they were published with, whether they
// hold as much as they should, and what is missing and where it is to be had.
//
//	found, err := published.COCO(ctx, "data/coco", published.COCOCounts())
//	for _, f := range found.Findings {
//		fmt.Println(f.Weight, f.Text, f.Cure)
//	}
//
// Annotation files are read whole and digested. Pictures and clips are listed, and neither opened nor decoded: that is
// what package doctor does.
package published
