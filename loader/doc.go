// Package loader is for changes of how files become batches: it reads and decodes side by side, fits pictures onto the
// canvas of a network, and has the labels. The packages below it read the kinds of data.
//
// A data set is a Set: labels in memory, or behind Rows where they are too many; pixels behind a Source, or features
// behind Vectors. The packages below make them: scenes without any file, annotation of the captions of COCO and
// MSR-VTT, manifest of lists of pictures; StreamClips makes one of a folder of frames, FeatureSet one of a table.
// Package noise makes labels wrong on purpose. Subset, SplitHalves, SplitByIDs and Frames make sets of sets. Set.Row
// and Set.EachRow read the labels of bags one at a time wherever they are, Census counts those of all; Hold brings
// labels into memory.
//
// A Loader reads the pictures of a Set through its Source, fits each onto the square canvas of the network and gives
// batches of 8-bit pixels, in an order and with flips and dropout keys that depend on the seed, the epoch and the bag
// alone:
//
//	set, err := scenes.Make(scenes.DefaultConfig())
//	l, err := loader.New(set, config)
//	epoch, err := l.Epoch(ctx, 0, 0)
//	defer epoch.Close()
//	for {
//		batch, err := epoch.Next(ctx) // io.EOF at the end
//		...
//		batch.Release()
//	}
package loader
