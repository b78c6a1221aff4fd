package simd

// The Go twins use tiles of 4×4, two rows at a time: eight sums fit the registers of every machine.
const (
	genericRows  = 4
	genericWidth = 4
)

func tileGeneric(t *Tile) {
	for i := 0; i < t.Rows; i += 2 {
		var row0, row1 [genericWidth]float32
		pair := t.Rows - i
		if t.Load {
			copy(row0[:], t.begin()[i*t.DstStride:])
			if pair > 1 {
				copy(row1[:], t.begin()[(i+1)*t.DstStride:])
			}
		}
		tilePair(t, t.Offsets[i], t.Offsets[i+1], &row0, &row1)
		finishRow(t, i, &row0)
		if pair > 1 {
			finishRow(t, i+1, &row1)
		}
	}
}

// tilePair adds the products of two rows of a tile.
func tilePair(t *Tile, offset0, offset1 int, row0, row1 *[genericWidth]float32) {
	if t.Depth < 1 {
		return
	}
	s00, s01, s02, s03 := row0[0], row0[1], row0[2], row0[3]
	s10, s11, s12, s13 := row1[0], row1[1], row1[2], row1[3]
	for tap := range t.Taps {
		panel := t.Panel[tap*(t.Depth*genericWidth+t.PanelSkip):]
		a0 := t.A[offset0+tap*t.TapStride:][:t.Depth]
		a1 := t.A[offset1+tap*t.TapStride:][:t.Depth]
		for c, v0 := range a0 {
			v1 := a1[c]
			b := panel[:genericWidth]
			panel = panel[genericWidth:]
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
	*row0 = [...]float32{s00, s01, s02, s03}
	*row1 = [...]float32{s10, s11, s12, s13}
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
	for i := 0; i < s.Rows; i += 2 {
		outerPair(s, i, min(i+1, s.Rows-1))
	}
}

// outerPair computes rows i and k of an outer sum. k may be i.
func outerPair(s *Sum, i, k int) {
	row0, row1 := s.Dst[i*s.DstStride:][:genericWidth], s.Dst[k*s.DstStride:][:genericWidth]
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	if s.Load {
		s00, s01, s02, s03 = row0[0], row0[1], row0[2], row0[3]
		s10, s11, s12, s13 = row1[0], row1[1], row1[2], row1[3]
	}
	panel := s.Panel[:s.Depth*genericWidth]
	for m := range s.Depth {
		a := s.A[m*s.AStride:]
		v0, v1 := a[i], a[k]
		b := panel[m*genericWidth:][:genericWidth]
		s00 += v0 * b[0]
		s01 += v0 * b[1]
		s02 += v0 * b[2]
		s03 += v0 * b[3]
		s10 += v1 * b[0]
		s11 += v1 * b[1]
		s12 += v1 * b[2]
		s13 += v1 * b[3]
	}
	row0[0], row0[1], row0[2], row0[3] = s00, s01, s02, s03
	row1[0], row1[1], row1[2], row1[3] = s10, s11, s12, s13
}
