package simd

import "fmt"

// The operations of this file work on a row of count 2×2 windows of a map with channels channels. upper and
// lower are the two rows of the map, 2·count cells each. Arrays of the windows have count cells. They give
// equal bits at every level.

// MaxWindows computes the maximum of each window, NaN if one of its elements is NaN.
func (l Level) MaxWindows(dst, upper, lower []float32, channels, count int) {
	checkWindows("maximum of windows", channels, count, [][]float32{upper, lower}, dst)
	if k := table[l].maxWindows; k == nil {
		maxWindowsGeneric(dst, upper, lower, channels, count)
	} else if channels > 0 && count > 0 {
		k(at(upper), at(lower), at(dst), channels, count)
	}
}

// WindowScatter is the gradient of MaxWindows. Each window of DUpper and DLower gets Grad at its first
// element, row by row, that equals Top, and 0 elsewhere. If Top is NaN, the last element gets it. With ReLU,
// Grad counts as 0 unless Top > 0. DUpper is written last: in a row of windows that the border cuts, both
// rows may be the upper one. They must not overlap otherwise.
type WindowScatter struct {
	DUpper, DLower, Upper, Lower []float32
	Top, Grad                    []float32
	ReLU                         bool
}

// ScatterWindows computes a WindowScatter.
func (l Level) ScatterWindows(s *WindowScatter, channels, count int) {
	checkWindows("gradient of maximum of windows", channels, count, [][]float32{s.DUpper, s.DLower, s.Upper, s.Lower},
		s.Top, s.Grad)
	if k := table[l].scatterWindows[bit(s.ReLU)]; k == nil {
		scatterWindowsGeneric(s, channels, count)
	} else if channels > 0 && count > 0 {
		k(at(s.DUpper), at(s.DLower), at(s.Upper), at(s.Lower), at(s.Top), at(s.Grad), channels, count)
	}
}

// checkWindows panics if rows or cells are shorter than the windows.
func checkWindows(operation string, channels, count int, rows [][]float32, cells ...[]float32) {
	if channels < 0 || count < 0 {
		panic(fmt.Sprintf("simd: %s: %d windows of %d channels", operation, count, channels))
	}
	for _, row := range rows {
		checkRows(operation, len(row), 0, 1, 2*count*channels)
	}
	for _, cell := range cells {
		checkRows(operation, len(cell), 0, 1, count*channels)
	}
}

func maxWindowsGeneric(dst, upper, lower []float32, channels, count int) {
	for q := range count {
		u, w := upper[2*q*channels:][:2*channels], lower[2*q*channels:][:2*channels]
		maxOfFourGeneric(dst[q*channels:][:channels], u[:channels], u[channels:], w[:channels], w[channels:])
	}
}

func scatterWindowsGeneric(s *WindowScatter, channels, count int) {
	for q := range count {
		at, next, cell := 2*q*channels, (2*q+1)*channels, q*channels
		scatterMaxGeneric(&Scatter{
			D:   [4][]float32{s.DUpper[at:], s.DUpper[next:], s.DLower[at:], s.DLower[next:]},
			X:   [3][]float32{s.Upper[at:], s.Upper[next:], s.Lower[at:]},
			Top: s.Top[cell:], Grad: s.Grad[cell:], ReLU: s.ReLU,
		}, channels)
	}
}
