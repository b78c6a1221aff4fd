package noise

import "nmn/kernels/simd"

// tinyBag is the p of a bag below which the ratios p_s/p are taken in logarithms: far below it p_s
// underflows in float32 though p_s/p does not.
const tinyBag = 1e-15

// factors turns the gradients of the bag's logits, share, into the factors of the instances. With noisy-or
// p_s becomes share·p_s/p, else each becomes share/count.
func (w *classes) factors(s instances, mil bool) {
	for k := range s.width {
		if mil {
			w.factor[k] = float32(w.share[k] / w.prob[k]) // of no use for a tiny bag
		} else {
			w.factor[k] = float32(w.share[k] / float64(s.count))
		}
	}
}

// spread writes the gradients of instances s to d, which has the layout of the logits. With noisy-or d holds
// p_s on entry.
func (w *classes) spread(level simd.Level, s instances, d []float32, mil bool) {
	if !mil {
		level.CopyRows(d, s.stride, w.factor[:], 0, s.count, s.width)
		return
	}
	level.ScaleRows(d, s.stride, s.count, w.factor[:s.width])
	for k, p := range w.prob[:s.width] {
		if p < tinyBag {
			s.shareTiny(d, k, w.share[k], w.logit[k])
		}
	}
}

// shareTiny sets the instances of one class of a tiny bag to share·p_s/p = share·exp(o_s - logit).
func (s instances) shareTiny(d []float32, k int, share, logit float64) {
	for i := range s.count {
		// The largest exponent is 0 except for rounding.
		d[i*s.stride+k] = float32(share * simd.ExpNegative(min(float64(s.logits[i*s.stride+k])-logit, 0)))
	}
}
