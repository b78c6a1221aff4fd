// Package manifest reads pictures, or clips as lists of their frames, with labels by name, in the forms in which people
// and other programs have them: CSV tables and JSON lines, a folder for each label, the instances of COCO, Pascal VOC
// and YOLO. Form says which it was.
//
//	m, err := manifest.Read(ctx, "pets.csv", manifest.Options{})
//	err = m.FindFiles(ctx, m.Folder, nil)
//	vocabulary, err := m.Vocabulary(1000, 1)
//	train, err := m.Set(loader.TrainSplit, vocabulary, 5, m.Folder)
//
// What a row needs (a path, labels) and may have (an identifier, a split, true labels, counts) is in the
// documentation of Row. Everything wrong with a file is an error that wraps loader.ErrAnnotations and names line,
// column and cure.
package manifest
