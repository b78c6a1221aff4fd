// Package loader turns files into batches in host memory: the data sets, their labels and label
// noise, decoding, augmentation and prefetch.
//
// A data set is a Set: labels in memory, or behind Rows where they are too many; pixels behind a Source,
// or features behind Vectors. Package scenes makes one without any file, COCOSet and MSRVTTSet read captions of
// pictures and clips, whose frames Clips reads from shards. Set.Row and Set.EachRow tell of bags one at a time
// wherever their labels are, Census of all; Hold brings labels into memory.
// A Loader reads the pictures of a Set through its Source, fits each onto the square canvas of the
// network and gives batches of 8-bit pixels, in an order and with flips and dropout keys that
// depend on the seed, the epoch and the bag alone:
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
