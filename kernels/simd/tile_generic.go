package simd

// The Go twins use tiles of 4×4, two rows at a time.
const (
	genericRows  = 4
	genericWidth = 4
)

// genericPair is the sums of two rows.
type genericPair [2][genericWidth]float32

func tileGeneric(t *Tile) {
	for i := 0; i < t.Rows; i += 2 {
		var sums genericPair
		rows := sums[:min(2, t.Rows-i)]
		if t.Load {
			for k := range rows {
				copy(rows[k][:], t.begin()[(i+k)*t.DstStride:])
			}
		}
		sums.add(t, t.Offsets[i], t.Offsets[i+1])
		for k := range rows {
			finishRow(t, i+k, &rows[k])
		}
	}
}

// add adds the products of two rows of a tile. The compiler has too few registers for the sums and the factors of a
// step. So it takes four steps at a time, without a branch between them, and moves some sums to memory once.
func (p *genericPair) add(t *Tile, offset0, offset1 int) {
	if t.Depth < 1 {
		return
	}
	s00, s01, s02, s03 := p[0][0], p[0][1], p[0][2], p[0][3]
	s10, s11, s12, s13 := p[1][0], p[1][1], p[1][2], p[1][3]
	for tap := range t.Taps {
		panel := t.Panel[tap*(t.Depth*genericWidth+t.PanelSkip):]
		a0 := t.A[offset0+tap*t.TapStride:][:t.Depth]
		a1 := t.A[offset1+tap*t.TapStride:][:t.Depth]
		for len(a0) >= 4 && len(a1) >= 4 && len(panel) >= 4*genericWidth {
			x0, x1, b := (*[4]float32)(a0), (*[4]float32)(a1), (*[4 * genericWidth]float32)(panel)
			s00 += x0[0] * b[0]
			s01 += x0[0] * b[1]
			s02 += x0[0] * b[2]
			s03 += x0[0] * b[3]
			s10 += x1[0] * b[0]
			s11 += x1[0] * b[1]
			s12 += x1[0] * b[2]
			s13 += x1[0] * b[3]
			s00 += x0[1] * b[4]
			s01 += x0[1] * b[5]
			s02 += x0[1] * b[6]
			s03 += x0[1] * b[7]
			s10 += x1[1] * b[4]
			s11 += x1[1] * b[5]
			s12 += x1[1] * b[6]
			s13 += x1[1] * b[7]
			s00 += x0[2] * b[8]
			s01 += x0[2] * b[9]
			s02 += x0[2] * b[10]
			s03 += x0[2] * b[11]
			s10 += x1[2] * b[8]
			s11 += x1[2] * b[9]
			s12 += x1[2] * b[10]
			s13 += x1[2] * b[11]
			s00 += x0[3] * b[12]
			s01 += x0[3] * b[13]
			s02 += x0[3] * b[14]
			s03 += x0[3] * b[15]
			s10 += x1[3] * b[12]
			s11 += x1[3] * b[13]
			s12 += x1[3] * b[14]
			s13 += x1[3] * b[15]
			a0, a1, panel = a0[4:], a1[4:], panel[4*genericWidth:]
		}
		for c, v0 := range a0 {
			v1, b := a1[c], (*[genericWidth]float32)(panel[c*genericWidth:])
			s00 += v0 * b[0]
			s01 += v0 * b[1]
			s02 += v0 * b[2]
			s03 += v0 * b[3]
			s10 += v1 * b[0]
			s11 += v1 * b[1]
			s12 += v1 * b[2]
			s13 += v1 * b[3]
		}
	}
	*p = genericPair{{s00, s01, s02, s03}, {s10, s11, s12, s13}}
}

// finishRow adds the bias, clamps, masks and stores one row of sums.
func finishRow(t *Tile, i int, sums *[genericWidth]float32) {
	at := i * t.DstStride
	dst := t.Dst[at:][:genericWidth]
	for j, v := range sums {
		if t.Bias != nil {
			v += t.Bias[j]
		}
		if t.ReLU && v < 0 {
			v = 0
		}
		if t.Mask != nil && t.Mask[at+j] <= 0 {
			v = 0
		}
		dst[j] = v
	}
}

func outerGeneric(s *Sum) {
	panel := s.Panel[:s.Depth*genericWidth]
	for i := 0; i < s.Rows; i += 2 {
		var sums genericPair
		rows := sums[:min(2, s.Rows-i)]
		if s.Load {
			for k := range rows {
				copy(rows[k][:], s.Dst[(i+k)*s.DstStride:])
			}
		}
		sums.addOuter(s.A[i:], s.AStride, panel)
		for k := range rows {
			copy(s.Dst[(i+k)*s.DstStride:], rows[k][:])
		}
	}
}

// addOuter adds the outer products of the first two values of rows of a matrix with the rows of a panel.
func (p *genericPair) addOuter(a []float32, stride int, panel []float32) {
	s00, s01, s02, s03 := p[0][0], p[0][1], p[0][2], p[0][3]
	s10, s11, s12, s13 := p[1][0], p[1][1], p[1][2], p[1][3]
	row := 0
	for ; len(panel) >= 4*genericWidth; panel = panel[4*genericWidth:] {
		x0, x1 := (*[2]float32)(a[row*stride:]), (*[2]float32)(a[(row+1)*stride:])
		x2, x3 := (*[2]float32)(a[(row+2)*stride:]), (*[2]float32)(a[(row+3)*stride:])
		b := (*[4 * genericWidth]float32)(panel)
		s00 += x0[0] * b[0]
		s01 += x0[0] * b[1]
		s02 += x0[0] * b[2]
		s03 += x0[0] * b[3]
		s10 += x0[1] * b[0]
		s11 += x0[1] * b[1]
		s12 += x0[1] * b[2]
		s13 += x0[1] * b[3]
		s00 += x1[0] * b[4]
		s01 += x1[0] * b[5]
		s02 += x1[0] * b[6]
		s03 += x1[0] * b[7]
		s10 += x1[1] * b[4]
		s11 += x1[1] * b[5]
		s12 += x1[1] * b[6]
		s13 += x1[1] * b[7]
		s00 += x2[0] * b[8]
		s01 += x2[0] * b[9]
		s02 += x2[0] * b[10]
		s03 += x2[0] * b[11]
		s10 += x2[1] * b[8]
		s11 += x2[1] * b[9]
		s12 += x2[1] * b[10]
		s13 += x2[1] * b[11]
		s00 += x3[0] * b[12]
		s01 += x3[0] * b[13]
		s02 += x3[0] * b[14]
		s03 += x3[0] * b[15]
		s10 += x3[1] * b[12]
		s11 += x3[1] * b[13]
		s12 += x3[1] * b[14]
		s13 += x3[1] * b[15]
		row += 4
	}
	for ; len(panel) >= genericWidth; panel = panel[genericWidth:] {
		x, b := (*[2]float32)(a[row*stride:]), (*[genericWidth]float32)(panel)
		s00 += x[0] * b[0]
		s01 += x[0] * b[1]
		s02 += x[0] * b[2]
		s03 += x[0] * b[3]
		s10 += x[1] * b[0]
		s11 += x[1] * b[1]
		s12 += x[1] * b[2]
		s13 += x[1] * b[3]
		row++
	}
	*p = genericPair{{s00, s01, s02, s03}, {s10, s11, s12, s13}}
}

// crossGeneric packs the columns of B, a block of 64 rows at a time, for up to 16 rows of sums.
func crossGeneric(c *Cross) {
	var panel [64 * genericWidth]float32
	for i := 0; i < c.Rows; i += 16 {
		var sums [8]genericPair
		rows := min(16, c.Rows-i)
		for first := 0; first < c.Depth; first += 64 {
			depth := min(64, c.Depth-first)
			copyRowsGeneric(panel[:], genericWidth, c.B[first*c.BStride:], c.BStride, depth, genericWidth)
			for k := range sums[:rows/2] {
				sums[k].addOuter(c.A[first*c.AStride+i+2*k:], c.AStride, panel[:depth*genericWidth])
			}
		}
		for k := range rows {
			row := (*[genericWidth]float32)(c.Dst[(i+k)*c.DstStride:])
			if !c.Load {
				*row = [genericWidth]float32{}
			}
			for j, v := range sums[k/2][k%2] {
				row[j] += v
			}
		}
	}
}
