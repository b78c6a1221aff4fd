package ref

// Map is the shape of T feature maps T×H×W×C.
type Map struct{ T, H, W, C int }

// Len is the number of elements.
func (m Map) Len() int { return m.T * m.H * m.W * m.C }

// At is the row-major place of an element.
func (m Map) At(t, h, w, c int) int { return index4(m.H, m.W, m.C, t, h, w, c) }

// CeilHalf is the shape after 2×2 pooling with stride 2 in ceil mode.
func (m Map) CeilHalf() Map { return Map{T: m.T, H: (m.H + 1) / 2, W: (m.W + 1) / 2, C: m.C} }

// MaxPoolArg returns for each element of the CeilHalf output the place in x of the first largest element,
// row-major, of its window. Windows are cut off at the border.
func MaxPoolArg(m Map, x []float64) []int {
	out := m.CeilHalf()
	places := make([]int, 0, out.Len())
	for t := range out.T {
		for p := range out.H {
			for q := range out.W {
				for c := range out.C {
					best := m.At(t, 2*p, 2*q, c)
					for h := 2 * p; h < 2*p+2 && h < m.H; h++ {
						for w := 2 * q; w < 2*q+2 && w < m.W; w++ {
							if place := m.At(t, h, w, c); x[place] > x[best] {
								best = place
							}
						}
					}
					places = append(places, best)
				}
			}
		}
	}
	return places
}

// MaxPool3Arg is MaxPoolArg for 3×3 windows with stride 2 and padding 1. There are
// T×((H-1)/2+1)×((W-1)/2+1)×C windows, which is CeilHalf.
func MaxPool3Arg(m Map, x []float64) []int {
	out := m.CeilHalf()
	places := make([]int, 0, out.Len())
	for t := range out.T {
		for p := range out.H {
			for q := range out.W {
				for c := range out.C {
					best := m.At(t, max(0, 2*p-1), max(0, 2*q-1), c)
					for h := max(0, 2*p-1); h < 2*p+2 && h < m.H; h++ {
						for w := max(0, 2*q-1); w < 2*q+2 && w < m.W; w++ {
							if place := m.At(t, h, w, c); x[place] > x[best] {
								best = place
							}
						}
					}
					places = append(places, best)
				}
			}
		}
	}
	return places
}

// MaxPool3 is the maximum of each 3×3 window.
func MaxPool3(m Map, x []float64) []float64 { return at(x, MaxPool3Arg(m, x)) }

// MaxPool3Grad is MaxPoolGrad for the windows of MaxPool3.
func MaxPool3Grad(m Map, dy, x []float64, relu bool) []float64 {
	return sendTo(m, MaxPool3Arg(m, x), dy, x, relu)
}

// MaxPool3GradBias is MaxPool3Grad and its sum over all cells, for each channel.
func MaxPool3GradBias(m Map, dy, x []float64, relu bool) (dx, db []float64) {
	dx = MaxPool3Grad(m, dy, x, relu)
	return dx, ofChannels(m, dx)
}

// MaxPool is the maximum of each 2×2 window.
func MaxPool(m Map, x []float64) []float64 {
	return at(x, MaxPoolArg(m, x))
}

// at are the elements of x at some places.
func at(x []float64, places []int) []float64 {
	y := make([]float64, len(places))
	for i, place := range places {
		y[i] = x[place]
	}
	return y
}

// MaxPoolGrad sends dy to the first largest element. With relu it does so only if that element is above 0.
func MaxPoolGrad(m Map, dy, x []float64, relu bool) []float64 {
	return sendTo(m, MaxPoolArg(m, x), dy, x, relu)
}

// sendTo adds dy at the places of maxima.
func sendTo(m Map, places []int, dy, x []float64, relu bool) []float64 {
	dx := make([]float64, m.Len())
	for i, place := range places {
		if !relu || x[place] > 0 {
			dx[place] += dy[i]
		}
	}
	return dx
}

// MaxPoolGradBias is MaxPoolGrad and its sum over all cells, for each channel.
func MaxPoolGradBias(m Map, dy, x []float64, relu bool) (dx, db []float64) {
	dx = MaxPoolGrad(m, dy, x, relu)
	return dx, ofChannels(m, dx)
}

// ofChannels are the sums over all cells.
func ofChannels(m Map, dx []float64) []float64 {
	db := make([]float64, m.C)
	for i, d := range dx {
		db[i%m.C] += d
	}
	return db
}

// BagMean is g[n,d], the mean over all cells of the frames bags[n] to bags[n+1].
func BagMean(m Map, x []float64, bags []int) []float64 {
	g := make([]float64, (len(bags)-1)*m.C)
	eachCell(m, bags, func(n, t, h, w, c int) {
		g[n*m.C+c] += x[m.At(t, h, w, c)] / float64((bags[n+1]-bags[n])*m.H*m.W)
	})
	return g
}

// BagMeanGrad spreads dg evenly.
func BagMeanGrad(m Map, dg []float64, bags []int) []float64 {
	dx := make([]float64, m.Len())
	eachCell(m, bags, func(n, t, h, w, c int) {
		dx[m.At(t, h, w, c)] = dg[n*m.C+c] / float64((bags[n+1]-bags[n])*m.H*m.W)
	})
	return dx
}

// BagMaxArg returns for each (n, d) the place in x of the first largest cell: frame, then row, then
// column.
func BagMaxArg(m Map, x []float64, bags []int) []int {
	places := make([]int, (len(bags)-1)*m.C)
	for i := range places {
		places[i] = -1
	}
	eachCell(m, bags, func(n, t, h, w, c int) {
		best := &places[n*m.C+c]
		if place := m.At(t, h, w, c); *best < 0 || x[place] > x[*best] {
			*best = place
		}
	})
	return places
}

// BagMax is the maximum over all cells of a bag.
func BagMax(m Map, x []float64, bags []int) []float64 {
	places := BagMaxArg(m, x, bags)
	g := make([]float64, len(places))
	for i, place := range places {
		g[i] = x[place]
	}
	return g
}

// BagMaxGrad sends dg to the first largest cell.
func BagMaxGrad(m Map, dg, x []float64, bags []int) []float64 {
	dx := make([]float64, m.Len())
	for i, place := range BagMaxArg(m, x, bags) {
		dx[place] += dg[i]
	}
	return dx
}

func eachCell(m Map, bags []int, visit func(n, t, h, w, c int)) {
	for n := range len(bags) - 1 {
		for t := bags[n]; t < bags[n+1]; t++ {
			for h := range m.H {
				for w := range m.W {
					for c := range m.C {
						visit(n, t, h, w, c)
					}
				}
			}
		}
	}
}
