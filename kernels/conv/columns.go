package conv

// ByColumns reports whether a card computes the data gradient of a convolution as a product dy·w, of N·P·Q by
// R·S·C numbers, and a sum over the windows that hold a cell. A plan for the convolution computes each cell
// of the input from all R·S cells of a padded output. Most of them are padding if the output is much smaller
// than the input: fc6 of VGG16 over 18×18 cells has 2.25 times the work. The columns have to be written and
// read, which pays only with many filters.
func (g Geometry) ByColumns() bool {
	return g.Stride == 1 && 2*g.P*g.Q <= g.H*g.W && g.K >= 512 && g.C%8 == 0 && g.K%8 == 0
}
