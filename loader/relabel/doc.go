// Package relabel writes corrected labels in the form that the data came in, so that what reads the one reads the
// other: manifests as CSV or JSON lines, the instances of COCO, label files of features and of clips. Only what says a
// label changes; all other bytes of a row stay as they are. Forms that are no file of their own, such as a folder for
// each label, become a new manifest.
//
//	corrected := relabel.Labels{Words: words, Rows: map[string][]uint8{"a.jpg": {1, 0}}}
//	rows, err := relabel.Manifest(ctx, m, corrected, "fixed.csv")
package relabel
