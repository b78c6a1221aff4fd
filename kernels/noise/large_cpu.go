package noise

import (
	"cmp"
	"math"

	"nmn/kernels/tensor"
)

// LargeLosses implements Ops.
//
// It runs on one goroutine, because bags have few logits compared with their instances. The count-th largest
// logit is found digit by digit in four passes, so that the time does not depend on the values.
func (c *CPU) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	const operation = "large losses"
	_, k, err := fitLargeLosses(targets, o, z, count)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, targets, o, z)); err != nil {
		return err
	}
	labels, logits, out := z.Float32s(), o.Float32s(), targets.Float32s()
	if err := checkLabels(operation, labels, k, false); err != nil {
		return err
	}
	c.ranks = tensor.Grow(c.ranks, len(labels))
	for i, label := range labels {
		c.ranks[i] = rankOf(logits[i], label)
	}
	limit, equal := limitOf(c.ranks, int(count.Int32s()[0]))
	for i, label := range labels {
		switch r := c.ranks[i]; {
		case r > limit:
			label = instead
		case r == limit && equal > 0:
			label, equal = instead, equal-1
		}
		out[i] = label
	}
	return nil
}

// rankOf maps the logits of zero labels to integers of the same order, above 0. Both zeros map to the same
// integer. Labels other than 0, and NaN, which LargeLosses never takes, map to 0.
func rankOf(logit, label float32) uint32 {
	if label != 0 || logit != logit {
		return 0
	}
	bits := math.Float32bits(logit + 0) // of 0 and -0, 0
	return bits ^ (uint32(int32(bits)>>31) | 1<<31)
}

// limitOf finds the count-th largest rank, and how many equal ranks are among the first count. If fewer ranks
// are above 0, both are 0.
func limitOf(ranks []uint32, count int) (limit uint32, equal int) {
	if count < 1 {
		return math.MaxUint32, 0 // above all ranks
	}
	var known uint32 // the bits of limit that are found
	for shift := 24; shift >= 0; shift -= 8 {
		var bins [256]int
		for _, r := range ranks {
			if r != 0 && r&known == limit {
				bins[r>>shift&0xff]++
			}
		}
		bin := len(bins) - 1
		for ; bin >= 0 && bins[bin] < count; bin-- {
			count -= bins[bin]
		}
		if bin < 0 {
			return 0, 0
		}
		limit, known = limit|uint32(bin)<<shift, known|0xff<<shift
	}
	return limit, count
}
