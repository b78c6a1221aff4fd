package simd

// line multiplies a vector of at most six values by one of the matrices.
type line func(x [6]float32) [6]float32

// takeThrough computes L x Lᵀ of one channel, for the matrix L of a line from one number of values to
// another.
func takeThrough(l line, to, from int, m *Matrix, channel int) (y [6][6]float32) {
	var half [6][6]float32 // L x, by columns
	for j := range from {
		var column [6]float32
		for i := range from {
			column[i] = m.Data[i*m.Row+j*m.Column+channel]
		}
		half[j] = l(column)
	}
	for i := range to {
		var row [6]float32
		for j := range from {
			row[j] = half[j][i]
		}
		y[i] = l(row)
	}
	return y
}

// transformGeneric computes and stores L src Lᵀ of all channels, added to dst if load is set.
func transformGeneric(l line, to, from int, dst, src *Matrix, channels int, load bool) {
	for c := range channels {
		y := takeThrough(l, to, from, src, c)
		for i := range to {
			for j := range to {
				at := &dst.Data[i*dst.Row+j*dst.Column+c]
				if load {
					y[i][j] += *at
				}
				*at = y[i][j]
			}
		}
	}
}

func inputLine(x [6]float32) [6]float32 {
	evenA, oddA := x[4]-squareB*x[2], pointA*(x[3]-squareB*x[1])
	evenB, oddB := x[4]-squareA*x[2], pointB*(x[3]-squareA*x[1])
	const sum = squareA + squareB
	return [6]float32{x[0] - sum*x[2] + x[4], evenA + oddA, evenA - oddA, evenB + oddB, evenB - oddB,
		x[1] - sum*x[3] + x[5]}
}

func filterLine(x [6]float32) [6]float32 {
	evenA, oddA := (x[0]+squareA*x[2])/normA, pointA/normA*x[1]
	evenB, oddB := (x[0]+squareB*x[2])/normB, pointB/normB*x[1]
	return [6]float32{x[0], evenA + oddA, evenA - oddA, evenB + oddB, evenB - oddB, x[2]}
}

func gradientLine(x [6]float32) [6]float32 {
	evenA, oddA := x[0]+squareA*x[2], pointA*(x[1]+squareA*x[3])
	evenB, oddB := x[0]+squareB*x[2], pointB*(x[1]+squareB*x[3])
	return [6]float32{x[0], evenA + oddA, evenA - oddA, evenB + oddB, evenB - oddB, x[3]}
}

func outputLine(x [6]float32) [6]float32 {
	evenA, oddA, evenB, oddB := x[1]+x[2], x[1]-x[2], x[3]+x[4], x[3]-x[4]
	return [6]float32{
		x[0] + evenA + evenB, pointA*oddA + pointB*oddB,
		squareA*evenA + squareB*evenB, cubeA*oddA + cubeB*oddB + x[5],
	}
}

func filterGradientLine(x [6]float32) [6]float32 {
	evenA, oddA, evenB, oddB := x[1]+x[2], x[1]-x[2], x[3]+x[4], x[3]-x[4]
	return [6]float32{
		x[0] + evenA/normA + evenB/normB, pointA/normA*oddA + pointB/normB*oddB,
		squareA/normA*evenA + squareB/normB*evenB + x[5],
	}
}

func winogradOutputGeneric(o *WinogradOutput) {
	o.eachGeneric(func(v float32, _, channel int) float32 {
		if o.Bias != nil {
			v += o.Bias[channel]
		}
		if o.ReLU && v < 0 {
			v = 0
		}
		return v
	})
}

func winogradDataGradientGeneric(o *WinogradOutput) {
	o.eachGeneric(func(v float32, at, _ int) float32 {
		if o.Load {
			v += o.Dst.Data[at]
		}
		if o.Mask != nil && o.Mask[at] <= 0 {
			v = 0
		}
		return v
	})
}

// eachGeneric stores the results of finish for the values of an output.
func (o *WinogradOutput) eachGeneric(finish func(v float32, at, channel int) float32) {
	for c := range o.Channels {
		y := takeThrough(outputLine, 4, 6, &o.Src, c)
		for i := range o.Rows {
			for j := range o.Columns {
				at := i*o.Dst.Row + j*o.Dst.Column + c
				o.Dst.Data[at] = finish(y[i][j], at, c)
			}
		}
	}
}
