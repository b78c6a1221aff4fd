// Package annotation reads files of captions in the formats of COCO and MSR-VTT and tables of captions (CSV, JSON
// lines), and makes sets of them. A set has a bag for each image or clip, whose labels are the words of a vocabulary
// that its captions mention.
//
//	captions, err := annotation.ReadBags(ctx, "captions_train2014.json")
//	vocabulary, err := text.BuildVocabulary(captions.Texts(5), ...)
//	set, files, err := captions.Set(vocabulary, annotation.SetOptions{CaptionsPerSample: 5, Images: folder})
//	set.Source, err = loader.NewFileSource(folder, files)
//
// Bags.WriteWithout writes such a file again without some captions.
//
// Files are plain, gzipped or, for MSR-VTT, in a zip archive. They are read as streams and are not trusted: a deviation
// from the format is an error that wraps loader.ErrAnnotations and names file, array, index and byte, or the line.
package annotation
