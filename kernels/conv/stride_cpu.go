package conv

// taps are those of a stored filter of rows × columns that a turned correlation takes: rows r, r+step, ... and columns
// s, s+step, ... All of them where r = s = 0 and step = 1.
type taps struct{ rows, columns, r, s, step int }

func allTaps(g Geometry) taps { return taps{rows: g.R, columns: g.S, step: 1} }

// turnedTap is the place in the stored filter of a tap of a turned correlation.
func (k *correlation) turnedTap(tap int) int {
	row := k.taps.r + (k.r-1-tap/k.s)*k.taps.step
	column := k.taps.s + (k.s-1-tap%k.s)*k.taps.step
	return row*k.taps.columns + column
}

// addWhole puts the map that is added where the sums go.
func (k *correlation) addWhole() {
	if len(k.add) > 0 && &k.add[0] != &k.out[0] {
		copy(k.out, k.add)
	}
}

// addBlock is addWhole for the cells of a block and panels lo to hi, which are in the cache when the sums are added.
func (k *correlation) addBlock(b *block, lo, hi int) {
	if len(k.add) == 0 || &k.add[0] == &k.out[0] {
		return
	}
	from, to := lo*k.plan.wide, min(hi*k.plan.wide, k.width)
	if to-from == k.width {
		copy(k.out[b.first*k.width:(b.first+b.cells)*k.width], k.add[b.first*k.width:])
		return
	}
	for cell := b.first; cell < b.first+b.cells; cell++ {
		copy(k.out[cell*k.width+from:cell*k.width+to], k.add[cell*k.width+from:])
	}
}

// phases are a data gradient whose stride is above 1. The rows h of dx that leave the same rest when Stride divides them
// meet the same rows of the filter, those r with h + Pad - r a multiple of Stride, and likewise columns. So each pair of
// rests is a gradient of stride 1 with a part of the filter; dx is put together from them:
//
//	dx[n, a + Stride·i, b + Stride·j, c] = phase (a, b) at [n, i, j, c]
//
// A phase without taps is 0.
type phases struct {
	g          Geometry
	dx, mask   []float32
	accumulate bool
	of         []phase
}

// phase is one pair of rests, rows × columns of them in a picture; sums is nil for one without taps.
type phase struct {
	rows, columns int
	sums          []float32
}

// side is a phase along one side: the first tap, how many there are, the padding of the correlation, its outputs.
func side(rest, stride, size, filter, pad int) (first, taps, before, outputs int) {
	first = (rest + pad) % stride
	if first < filter {
		taps = ceilDiv(filter-first, stride)
	}
	return first, taps, taps - 1 - (rest+pad)/stride, ceilDiv(size-rest, stride)
}

// gradDataByPhases computes a data gradient by phases, then joins them. Steady shapes allocate nothing.
func (c *CPU) gradDataByPhases(g *Geometry, dx, dy, w, mask []float32, accumulate bool) {
	j := &c.phases
	*j = phases{g: *g, dx: dx, mask: mask, accumulate: accumulate, of: j.of[:0]}
	c.parts = grow(c.parts, len(dx))
	rest := c.parts
	for a := range g.Stride {
		for b := range g.Stride {
			k := correlation{
				n: g.N, h: g.P, w: g.Q, depth: g.K, width: g.C, step: 1, turned: true, in: dy, filter: w,
				taps: taps{rows: g.R, columns: g.S, step: g.Stride},
			}
			k.taps.r, k.r, k.padH, k.p = side(a, g.Stride, g.H, g.R, g.Pad)
			k.taps.s, k.s, k.padW, k.q = side(b, g.Stride, g.W, g.S, g.Pad)
			p := phase{rows: k.p, columns: k.q}
			if k.r*k.s > 0 {
				size := k.n * k.p * k.q * k.width
				p.sums, rest = rest[:size], rest[size:]
				k.out = p.sums
				if k.r*k.s == 1 && !k.padded() && k.p == k.h && k.q == k.w {
					k.n, k.h, k.w, k.p, k.q = k.n*k.h*k.w, 1, 1, 1, 1
				}
				c.corr = k
				c.correlate()
			}
			j.of = append(j.of, p)
		}
	}
	c.workers.Run(g.N*g.H, c.tasks.join)
	clear(j.of)
	*j = phases{of: j.of[:0]}
}

// joinPhasesBlock writes a row of dx.
func (c *CPU) joinPhasesBlock(_, row int) {
	j := &c.phases
	g := &j.g
	image, h := row/g.H, row%g.H
	of := j.of[h%g.Stride*g.Stride:][:g.Stride]
	for column := range g.W {
		p := &of[column%g.Stride]
		at := (row*g.W + column) * g.C
		dx := j.dx[at : at+g.C]
		var sums []float32
		if p.sums != nil {
			sums = p.sums[((image*p.rows+h/g.Stride)*p.columns+column/g.Stride)*g.C:][:g.C]
		}
		switch {
		case sums == nil && !j.accumulate:
			clear(dx)
		case sums != nil && !j.accumulate && j.mask != nil: // which may be the memory of dx
			c.level.ReLUGrad(dx, sums, j.mask[at:at+g.C])
		case sums != nil && !j.accumulate:
			copy(dx, sums)
		default:
			if sums != nil {
				c.level.Add(dx, sums)
			}
			if j.mask != nil {
				c.level.ReLUGrad(dx, dx, j.mask[at:at+g.C])
			}
		}
	}
}
