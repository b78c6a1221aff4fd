package noise

import (
	"math"

	"nmn/kernels/simd"
)

// instances are the logits of a bag, or of a part of it, for a block of classes: count cells of width
// classes in rows that are stride elements apart.
type instances struct {
	logits               []float32
	count, width, stride int
}

// cut returns the instances of frames lo to hi (exclusive) for classes first and following.
func cut(logits []float32, cells, classes, lo, hi, first int) instances {
	begin, end := lo*cells*classes+first, hi*cells*classes
	return instances{logits: logits[begin:end], count: (hi - lo) * cells, width: min(blockClasses, classes-first),
		stride: classes}
}

// rows returns count instances from instance lo on.
func (s instances) rows(lo, count int) instances {
	s.logits, s.count = s.logits[min(lo*s.stride, len(s.logits)):], count
	return s
}

// part returns part i of n, as equal as may be, and its first instance.
func (s instances) part(i, n int) (part instances, first int) {
	first = s.count * i / n
	return s.rows(first, s.count*(i+1)/n-first), first
}

// sums are those over instances for each class of a block: of softplus, as simd.Softplus has it, or the
// sums of logits in positive.
type sums struct {
	positive, excess [blockClasses]float64
}

// Products that may exceed foldAbove are folded into positive before foldAfter instances could take them out of
// the range of float64. Each instance at most doubles a product. Few ever are folded.
const (
	foldAfter = 512
	foldAbove = 1 << 500
)

// join sums softplus over the instances. If p is not nil, it receives sigmoid(o_s) in the layout of the
// logits.
func (t *sums) join(level simd.Level, s instances, p []float32) {
	*t = sums{}
	for i := 0; i < s.count; i += foldAfter {
		rows := s.rows(i, min(foldAfter, s.count-i))
		run := simd.Softplus{Logits: rows.logits, Stride: s.stride, Rows: rows.count, Width: s.width, Positive: t.positive[:],
			Excess: t.excess[:]}
		if p != nil {
			run.Sigmoid = p[i*s.stride:]
		}
		level.SumSoftplus(&run)
		t.fold(s.width)
	}
}

// fold moves large products to positive.
func (t *sums) fold(width int) {
	for k, excess := range t.excess[:width] {
		if excess > foldAbove {
			t.positive[k] += math.Log1p(excess)
			t.excess[k] = 0
		}
	}
}

// joinMean sums the logits over the instances.
func (t *sums) joinMean(level simd.Level, s instances) {
	*t = sums{}
	level.SumRows64(t.positive[:], s.logits, s.stride, s.count, s.width)
}

// merge adds the sums of another part of the bag.
func (t *sums) merge(other *sums, width int) {
	for k := range width {
		t.positive[k] += other.positive[k]
		t.excess[k] += other.excess[k] + other.excess[k]*t.excess[k]
	}
	t.fold(width)
}

// noisyOR is the result for a class of instances joined by noisy-or:
//
//	p(y=0|I) = exp(-positive) / (1+excess), p(y=1|I) = (excess + (1-exp(-positive))) / (1+excess)
//
// The difference cancels nothing: if positive is small but not 0, an instance is near 0 and its share of the
// excess near 1.
func (t *sums) noisyOR(k int) pooled {
	none, inverse := simd.ExpNegative(-t.positive[k]), 1/(1+t.excess[k])
	return pooled{p1: (t.excess[k] + (1 - none)) * inverse, p0: none * inverse}
}

// pooledOf joins the instances s, whose sums are t, of class k.
func (t *sums) pooledOf(s instances, k int, mil bool) pooled {
	if !mil {
		return pooledLogit(t.positive[k] / float64(s.count))
	}
	e := t.noisyOR(k)
	if !e.plain() {
		e.known, e.logit = true, t.extremeLogit(s, k)
	}
	return e
}

// extremeLogit is the bag's logit log p - log(1-p) if one of them underflows. log(1-p) is minus the sum of
// softplus. If p is tiny, it is the sum of exp(o_s), which is computed again in logarithms.
func (t *sums) extremeLogit(s instances, k int) float64 {
	sum := t.positive[k] + math.Log1p(t.excess[k])
	if sum < tinyBag {
		return s.logSumExp(k)
	}
	return sum + math.Log(-math.Expm1(-sum))
}

// logSumExp is log sum over s of exp(o_s) of one class.
func (s instances) logSumExp(k int) float64 {
	top := s.logits[k]
	for i := range s.count {
		top = max(top, s.logits[i*s.stride+k])
	}
	sum := 0.0
	for i := range s.count {
		sum += simd.ExpNegative(float64(s.logits[i*s.stride+k]) - float64(top))
	}
	return float64(top) + math.Log(sum)
}
