package update

var _ Divider = (*CPU)(nil)

// partSums are what the blocks of a sum of parts read and write.
type partSums struct {
	runs     []partRun
	squares  []float64
	scale    float32
	totals   [][]float32 // of a block, for each worker; empty until more than two ranks are summed
	sumBlock func(worker, block int)
}

// partRun is a block of a part.
type partRun struct {
	of     *Part
	lo, hi int
}

// SumParts implements Divider. Sum, scale and squares of a block follow one another while it is in the cache.
func (c *CPU) SumParts(squares []float64, parts []Part, scale float32) error {
	if err := FitParts(squares, parts); err != nil {
		return err
	}
	s := &c.parts
	s.runs, s.squares, s.scale = s.runs[:0], squares, scale
	most := 0
	for i := range parts {
		p := &parts[i]
		most = max(most, len(p.Ranks))
		for lo, n := 0, len(p.Ranks[p.Own]); lo < n; lo += Block {
			s.runs = append(s.runs, partRun{p, lo, min(lo+Block, n)})
		}
	}
	if most > 2 && s.totals == nil {
		s.totals = make([][]float32, c.workers.Threads())
		for i := range s.totals {
			s.totals[i] = make([]float32, Block)
		}
	}
	c.workers.Run(len(s.runs), s.sumBlock)
	clear(s.runs)
	s.runs, s.squares = s.runs[:0], nil
	return nil
}

func (c *CPU) runPartBlock(worker, block int) {
	s := &c.parts
	r := s.runs[block]
	own := r.of.Ranks[r.of.Own][r.lo:r.hi]
	switch ranks := r.of.Ranks; len(ranks) {
	case 1:
	case 2: // in either order, a sum of two is the same
		c.level.Add(own, ranks[1-r.of.Own][r.lo:r.hi])
	default:
		total := s.totals[worker][:len(own)]
		copy(total, ranks[0][r.lo:r.hi])
		for _, theirs := range ranks[1:] {
			c.level.Add(total, theirs[r.lo:r.hi])
		}
		copy(own, total)
	}
	if s.scale != 1 {
		c.level.Scale(own, s.scale)
	}
	s.squares[block] = c.level.SumSquares(own)
}
