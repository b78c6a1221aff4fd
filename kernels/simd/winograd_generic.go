package simd

// lanes is the values of an element of a matrix for channels that are transformed together.
type lanes [WinogradLanes]float32

// line is one of the matrices that vectors of at most six elements are multiplied by.
type line int

const (
	inputLine line = iota
	filterLine
	gradientLine
	outputLine
	filterGradientLine
)

// multiply computes y = L x. These are direct calls: arguments of an indirect one would be allocated.
func (l line) multiply(y, x *[6]*lanes) {
	switch l {
	case inputLine:
		multiplyInput(y, x)
	case filterLine:
		multiplyFilter(y, x)
	case gradientLine:
		multiplyGradient(y, x)
	case outputLine:
		multiplyOutput(y, x)
	case filterGradientLine:
		multiplyFilterGradient(y, x)
	}
}

// square is a matrix of at most 6×6 elements.
type square [6][6]lanes

// takeThrough computes L x Lᵀ of the channels from one on, for the matrix L of a line from one number of values to
// another. half is scratch memory.
func (s *square) takeThrough(l line, to, from int, m *Matrix, channel int, half *square) {
	var x, y [6]*lanes
	for j := range from {
		for i := range from {
			x[i] = (*lanes)(m.Data[i*m.Row+j*m.Column+channel:])
		}
		for i := range to {
			y[i] = &half[i][j]
		}
		l.multiply(&y, &x)
	}
	for i := range to {
		for j := range from {
			x[j] = &half[i][j]
		}
		for j := range to {
			y[j] = &s[i][j]
		}
		l.multiply(&y, &x)
	}
}

// transformGeneric computes and stores L src Lᵀ of all channels, added to dst if load is set.
func transformGeneric(l line, to, from int, dst, src *Matrix, channels int, load bool) {
	var y, half square
	for c := 0; c < channels; c += WinogradLanes {
		y.takeThrough(l, to, from, src, c, &half)
		for i := range to {
			for j := range to {
				at := (*lanes)(dst.Data[i*dst.Row+j*dst.Column+c:])
				if load {
					addGeneric(y[i][j][:], at[:])
				}
				*at = y[i][j]
			}
		}
	}
}

func multiplyInput(y, x *[6]*lanes) {
	x0, x1, x2, x3, x4, x5 := x[0], x[1], x[2], x[3], x[4], x[5]
	y0, y1, y2, y3, y4, y5 := y[0], y[1], y[2], y[3], y[4], y[5]
	const sum = squareA + squareB
	for c := range x0 {
		v1, v2, v3, v4 := x1[c], x2[c], x3[c], x4[c]
		evenA, oddA := v4-squareB*v2, pointA*(v3-squareB*v1)
		evenB, oddB := v4-squareA*v2, pointB*(v3-squareA*v1)
		y0[c], y5[c] = x0[c]-sum*v2+v4, v1-sum*v3+x5[c]
		y1[c], y2[c], y3[c], y4[c] = evenA+oddA, evenA-oddA, evenB+oddB, evenB-oddB
	}
}

func multiplyFilter(y, x *[6]*lanes) {
	x0, x1, x2 := x[0], x[1], x[2]
	y0, y1, y2, y3, y4, y5 := y[0], y[1], y[2], y[3], y[4], y[5]
	for c := range x0 {
		v0, v1, v2 := x0[c], x1[c], x2[c]
		evenA, oddA := (v0+squareA*v2)/normA, pointA/normA*v1
		evenB, oddB := (v0+squareB*v2)/normB, pointB/normB*v1
		y0[c], y5[c] = v0, v2
		y1[c], y2[c], y3[c], y4[c] = evenA+oddA, evenA-oddA, evenB+oddB, evenB-oddB
	}
}

func multiplyGradient(y, x *[6]*lanes) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	y0, y1, y2, y3, y4, y5 := y[0], y[1], y[2], y[3], y[4], y[5]
	for c := range x0 {
		v0, v1, v2, v3 := x0[c], x1[c], x2[c], x3[c]
		evenA, oddA := v0+squareA*v2, pointA*(v1+squareA*v3)
		evenB, oddB := v0+squareB*v2, pointB*(v1+squareB*v3)
		y0[c], y5[c] = v0, v3
		y1[c], y2[c], y3[c], y4[c] = evenA+oddA, evenA-oddA, evenB+oddB, evenB-oddB
	}
}

func multiplyOutput(y, x *[6]*lanes) {
	x0, x1, x2, x3, x4, x5 := x[0], x[1], x[2], x[3], x[4], x[5]
	y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
	for c := range x0 {
		v1, v2, v3, v4 := x1[c], x2[c], x3[c], x4[c]
		evenA, oddA, evenB, oddB := v1+v2, v1-v2, v3+v4, v3-v4
		y0[c], y1[c] = x0[c]+evenA+evenB, pointA*oddA+pointB*oddB
		y2[c], y3[c] = squareA*evenA+squareB*evenB, cubeA*oddA+cubeB*oddB+x5[c]
	}
}

func multiplyFilterGradient(y, x *[6]*lanes) {
	x0, x1, x2, x3, x4, x5 := x[0], x[1], x[2], x[3], x[4], x[5]
	y0, y1, y2 := y[0], y[1], y[2]
	for c := range x0 {
		v1, v2, v3, v4 := x1[c], x2[c], x3[c], x4[c]
		evenA, oddA, evenB, oddB := v1+v2, v1-v2, v3+v4, v3-v4
		y0[c], y1[c] = x0[c]+evenA/normA+evenB/normB, pointA/normA*oddA+pointB/normB*oddB
		y2[c] = squareA/normA*evenA + squareB/normB*evenB + x5[c]
	}
}

func winogradOutputGeneric(o *WinogradOutput, gradient bool) {
	var y, half square
	for c := 0; c < o.Channels; c += WinogradLanes {
		y.takeThrough(outputLine, 4, 6, &o.Src, c, &half)
		for i := range o.Rows {
			for j := range o.Columns {
				at := i*o.Dst.Row + j*o.Dst.Column + c
				if gradient {
					o.finishGradient(&y[i][j], at)
				} else {
					o.finishForward(&y[i][j], c)
				}
				*(*lanes)(o.Dst.Data[at:]) = y[i][j]
			}
		}
	}
}

func (o *WinogradOutput) finishForward(y *lanes, channel int) {
	if o.Bias != nil {
		addGeneric(y[:], o.Bias[channel:])
	}
	if o.ReLU {
		reluGeneric(y[:], y[:])
	}
}

func (o *WinogradOutput) finishGradient(y *lanes, at int) {
	if o.Load {
		addGeneric(y[:], o.Dst.Data[at:])
	}
	if o.Mask != nil {
		for c, m := range (*lanes)(o.Mask[at:]) {
			y[c] = keepBits(y[c], !(m <= 0))
		}
	}
}
