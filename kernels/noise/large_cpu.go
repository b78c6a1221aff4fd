package noise

import (
	"math"

	"nmn/kernels/tensor"
)

// LargeLosses implements Ops.
//
// It is one goroutine's work: the logits of bags are few beside those of their instances. The count-th
// largest logit is found digit by digit in four passes, so that the time does not depend on how they lie.
func (c *CPU) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	const operation = "large losses"
	_, k, err := FitLargeLosses(targets, o, z, count)
	if err := firstError(err, onHost(operation, targets, o, z)); err != nil {
		return err
	}
	if err := checkLabels(operation, z.Float32s(), k, false); err != nil {
		return err
	}
	r := ranking{o.Float32s(), z.Float32s()}
	limit, equal := r.limit(int(count.Int32s()[0]))
	out := targets.Float32s()
	for i, label := range r.z {
		switch key := r.key(i); {
		case key > limit:
			label = instead
		case key == limit && equal > 0:
			label, equal = instead, equal-1
		}
		out[i] = label
	}
	return nil
}

// ranking ranks the labels 0 of a batch by their logits.
type ranking struct{ o, z []float32 }

// key orders as the logits do; it is 0 for what is never taken.
func (r ranking) key(i int) uint32 {
	if r.z[i] != 0 {
		return 0
	}
	return rank(r.o[i])
}

// rank maps floats to integers of the same order, above 0; both zeros to the same one and NaN to 0.
func rank(x float32) uint32 {
	const sign = 1 << 31
	switch bits := math.Float32bits(x); {
	case x != x:
		return 0
	case x == 0:
		return sign
	case bits&sign != 0:
		return ^bits
	default:
		return bits | sign
	}
}

// limit finds the count-th largest key, and how many equal to it are among the first count. Where there
// are fewer keys above 0, it is 0 and none.
func (r ranking) limit(count int) (key uint32, equal int) {
	if count < 1 {
		return math.MaxUint32, 0 // above all keys
	}
	var known uint32 // the bits of key that are found
	for shift := 24; shift >= 0; shift -= 8 {
		var bins [256]int
		for i := range r.o {
			if k := r.key(i); k != 0 && k&known == key {
				bins[k>>shift&0xff]++
			}
		}
		bin := len(bins) - 1
		for ; bin >= 0 && bins[bin] < count; bin-- {
			count -= bins[bin]
		}
		if bin < 0 {
			return 0, 0
		}
		key, known = key|uint32(bin)<<shift, known|0xff<<shift
	}
	return key, count
}
