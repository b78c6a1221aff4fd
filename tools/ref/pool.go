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
// row-major, of its window: 2×2 elements with stride 2, or with one more row above and column before them, for a
// border of 1. Windows are cut off at the ends of the map.
func MaxPoolArg(m Map, x []float64, border int) []int {
	out := m.CeilHalf()
	places := make([]int, 0, out.Len())
	for t := range out.T {
		for p := range out.H {
			for q := range out.W {
				for c := range out.C {
					best := m.At(t, max(0, 2*p-border), max(0, 2*q-border), c)
					for h := max(0, 2*p-border); h < 2*p+2 && h < m.H; h++ {
						for w := max(0, 2*q-border); w < 2*q+2 && w < m.W; w++ {
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

// MaxPool is the maximum of each window.
func MaxPool(m Map, x []float64, border int) []float64 { return at(x, MaxPoolArg(m, x, border)) }

// at are the elements of x at some places.
func at(x []float64, places []int) []float64 {
	y := make([]float64, len(places))
	for i, place := range places {
		y[i] = x[place]
	}
	return y
}

// MaxPoolGrad sends dy to the first largest element, with relu only if that element is above 0, and sums the result
// over all cells, for each channel.
func MaxPoolGrad(m Map, dy, x []float64, border int, relu bool) (dx, db []float64) {
	dx, db = sendTo(m, MaxPoolArg(m, x, border), dy, x, relu), make([]float64, m.C)
	for i, d := range dx {
		db[i%m.C] += d
	}
	return dx, db
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
func BagMax(m Map, x []float64, bags []int) []float64 { return at(x, BagMaxArg(m, x, bags)) }

// BagMaxGrad sends dg to the first largest cell.
func BagMaxGrad(m Map, dg, x []float64, bags []int) []float64 {
	return sendTo(m, BagMaxArg(m, x, bags), dg, x, false)
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
