// Package manifest reads pictures, or clips as lists of their frames, with labels by name. It reads the usual
// forms: CSV tables and JSON lines, a folder for each label, the instances of COCO, Pascal VOC and YOLO. Form
// is the form that was found.
//
//	m, err := manifest.Read(ctx, "pets.csv", manifest.Options{})
//	err = m.FindFiles(ctx, m.Folder, nil)
//	vocabulary, err := m.Vocabulary(1000, 1)
//	train, err := m.Set(loader.TrainSplit, vocabulary, 5, m.Folder)
//
// A row needs a path and labels, and may have an identifier, a split, true labels and counts; see Row. Every
// error about a file wraps loader.ErrAnnotations and names line, column and fix.
package manifest
