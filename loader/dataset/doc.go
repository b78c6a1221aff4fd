// Package dataset opens the data that a configuration names, and splits them into train, validation and test.
//
//	config := dataset.DefaultConfig()
//	config.Set, config.Manifest = dataset.Manifest, "birds.csv"
//	if err := config.Validate(); err != nil {
//		return err
//	}
//	data, err := dataset.Open(ctx, &config, dataset.Options{Log: slog.Default()})
//	if err != nil {
//		return err // a *dataset.ConfigError where a setting does not go with the data
//	}
//	defer data.Close()
//	fmt.Println(data.Describe())
//	var row loader.Row
//	for bag := range data.Train.Len() {
//		if err := data.Train.Row(ctx, bag, &row); err != nil {
//			return err
//		}
//		fmt.Println(row.ID, row.Labels) // classes of data.Train.Vocabulary
//	}
//
// Each split is a loader.Set: bags, which are pictures, videos or rows of features, with labels. Labels of the training
// split may be noisy on purpose, by replaced captions or flipped labels; what they were before counts as the truth
// then. Splits depend on the identifiers of the bags and a seed alone, not on the order of files.
//
// FindPictures and Pictures make a set of files that nobody has labels of.
package dataset
