// Package dataset opens the configured data and splits it into train, validation and test.
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
// Each split is a loader.Set of labelled bags: pictures, videos or rows of features. Labels of the training
// split may be made noisy on purpose, by replaced captions or flipped labels. The labels before that then
// count as the truth. Splits depend only on the identifiers of the bags and a seed, not on the order of
// files.
//
// FindPictures and Pictures make a set of picture files without labels.
package dataset
