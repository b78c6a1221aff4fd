// Package published checks the folders of the published data sets that the paper uses, COCO 2014 and MSR-VTT,
// before training. It checks whether the files have their published names and complete content. It reports
// what is missing and where to get it.
//
//	found, err := published.COCO(ctx, "data/coco", published.COCOCounts())
//	for _, f := range found.Findings {
//		fmt.Println(f.Weight, f.Text, f.Cure)
//	}
//
// Annotation files are read in full and digested. Pictures and clips are only listed; package doctor opens
// and decodes them.
package published
