// Package dataset opens the configured data and splits it into train, validation and test.
//
// Each split is a loader.Set of labelled bags: pictures, videos or rows of features. Labels of the training split may
// be made noisy on purpose, by replaced captions or flipped labels. The labels before that then count as the truth.
// Splits depend only on the identifiers of the bags and a seed, not on the order of files.
//
// FindPictures and Pictures make a set of picture files without labels.
package dataset
