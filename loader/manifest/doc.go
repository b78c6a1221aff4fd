// Package manifest reads lists of pictures, or of clips as lists of their frames, with labels by name: CSV tables and
// JSON lines as people and other programs write them.
//
//	m, err := manifest.Read(ctx, "pets.csv", manifest.Options{})
//	err = m.FindFiles(ctx, folder, nil)
//	vocabulary, err := m.Vocabulary(1000, 1)
//	train, source, err := m.Set(loader.TrainSplit, vocabulary, 5, folder)
//	defer source.Close()
//
// What a row needs (a path, labels) and may have (an identifier, a split, true labels, counts) is in the
// documentation of Row. Everything wrong with a file is an error that wraps loader.ErrAnnotations and names line,
// column and cure.
package manifest
