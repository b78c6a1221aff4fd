// Package loader turns files into batches. It reads and decodes pictures in parallel, fits them onto the
// canvas of a network, and provides the labels. The packages below it read the kinds of data.
//
// A data set is a Set. Its labels are in memory, or in Rows if they are too many. Its pixels come from a
// Source, or its features from Vectors. These packages make sets: scenes without any file, annotation from
// the captions of COCO and MSR-VTT, manifest from lists of pictures. StreamClips makes one from a folder of
// frames, FeatureSet one from a table. Package inject makes labels wrong on purpose. Subset, SplitHalves,
// SplitByIDs and Frames derive sets from sets. Set.Row and Set.EachRow read the labels of bags one at a time
// wherever they are, Census counts all labels, and Hold brings labels into memory.
//
// A Loader reads the pictures of a Set through its Source, fits each onto the square canvas of the network,
// and returns batches of 8-bit pixels. Their order, flips and dropout keys depend only on the seed, the epoch
// and the bag:
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
