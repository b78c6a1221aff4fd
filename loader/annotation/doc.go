// Package annotation reads files of captions in the formats of COCO and MSR-VTT, and makes sets of them: a bag for
// each image or clip, whose labels are the words of a vocabulary that its captions mention.
//
//	captions, err := annotation.ReadCOCO(ctx, "captions_train2014.json")
//	vocabulary, err := text.BuildVocabulary(captions.Texts(5), ...)
//	set, files, err := annotation.COCOSet(captions, vocabulary, annotation.COCOOptions{Images: folder})
//	set.Source, err = loader.NewFileSource(folder, files)
//
// ReadBags reads the same files, and tables of captions (CSV, JSON lines), for what needs the captions alone;
// Bags.WriteWithout writes such a file again, less some captions.
//
// Files are plain, gzipped or, where MSR-VTT comes so, in a zip archive. They are read as streams and taken for
// hostile: whatever does not follow the format is an error that wraps loader.ErrAnnotations and names file, array,
// index and byte.
package annotation
