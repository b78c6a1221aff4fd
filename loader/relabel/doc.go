// Package relabel writes corrected labels. A manifest of CSV or JSON lines keeps its form: rows without a correction
// keep every byte, and others keep their other cells. Data of other forms become a new manifest.
//
//	corrected := relabel.Labels{Words: words, Rows: map[string][]uint8{"a.jpg": {1, 0}}}
//	rows, err := relabel.Manifest(ctx, m, corrected, "fixed.csv")
package relabel
