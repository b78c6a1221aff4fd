// Package relabel writes corrected labels in the form of the input, so that the same reader reads both:
// manifests as CSV or JSON lines, the instances of COCO, label files of features and of clips. Only the
// labels change; all other bytes of a row stay as they are. Forms that are no single file, such as a folder
// for each label, become a new manifest.
//
//	corrected := relabel.Labels{Words: words, Rows: map[string][]uint8{"a.jpg": {1, 0}}}
//	rows, err := relabel.Manifest(ctx, m, corrected, "fixed.csv")
package relabel
