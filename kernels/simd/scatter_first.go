package simd

import "fmt"

// FirstScatter is the gradient of maxima over windows of any shape. The maximum Top of a window was taken of
// the candidates X[Offsets[i] + c], in their order. Its Grad is added to D at the place of the first of them
// that equals Top, or of the last if none of the others does. With ReLU, Grad counts as 0 unless Top > 0.
// Candidates before Lo and from Hi on keep their values, because other calls add to them.
//
// Count windows with equally many channels follow each other: their candidates lie Step apart, Top and Grad
// are contiguous.
type FirstScatter struct {
	D, X      []float32
	Offsets   []int // at least one
	Lo, Hi    int   // 0 <= Lo <= Hi <= len(Offsets)
	Top, Grad []float32
	ReLU      bool
	Step      int
	Count     int
}

// ScatterFirst computes a FirstScatter. It gives the same bits at every level.
func (l Level) ScatterFirst(s *FirstScatter, channels int) {
	if s.Count <= 0 || channels <= 0 {
		return
	}
	s.check(channels)
	k := table[l].scatterFirst[bit(s.ReLU)]
	if k == nil {
		scatterFirstGeneric(s, channels)
		return
	}
	// The last candidate gets the rest, so the kernel compares only the others.
	last := len(s.Offsets) - 1
	k(at(s.D), at(s.X), at(s.Top), at(s.Grad), at(s.Offsets), min(s.Lo, last), min(s.Hi, last), bit(s.Lo <= last &&
		s.Hi > last), channels, s.Step, s.Count)
}

func (s *FirstScatter) check(channels int) {
	const operation = "gradient of maximum of many"
	if len(s.Offsets) == 0 || s.Lo < 0 || s.Lo > s.Hi || s.Hi > len(s.Offsets) || s.Step < 0 {
		panic(fmt.Sprintf("simd: %s: of %d candidates %d to %d, windows %d apart", operation, len(s.Offsets), s.Lo,
			s.Hi, s.Step))
	}
	for _, offset := range s.Offsets {
		if end := offset + (s.Count-1)*s.Step + channels; offset < 0 || end > len(s.X) || end > len(s.D) {
			panic(fmt.Sprintf("simd: %s: candidate at %d of %d windows in %d and %d", operation, offset, s.Count,
				len(s.X), len(s.D)))
		}
	}
	atLeast(operation, s.Count*channels, s.Top, s.Grad)
}

func scatterFirstGeneric(s *FirstScatter, channels int) {
	last := len(s.Offsets) - 1
	for q := range s.Count {
		x, d := s.X[q*s.Step:], s.D[q*s.Step:]
		tops, grads := s.Top[q*channels:][:channels], s.Grad[q*channels:][:channels]
		for c, top := range tops {
			if s.ReLU && !(top > 0) {
				continue
			}
			i := 0
			for i < last && x[s.Offsets[i]+c] != top {
				i++
			}
			if i >= s.Lo && i < s.Hi {
				d[s.Offsets[i]+c] += grads[c]
			}
		}
	}
}
