package simd

// The operations of this file work on one word's logits of many rows. The lanes of a vector are rows, so
// nothing is ever summed across a vector. A word has one bias for all rows. Arrays are as long as the first
// one, or longer.

// Raise computes top = max(top, x + bias), NaN if one of them is NaN.
func (l Level) Raise(top, x []float32, bias float32) {
	table[l].raise.run("raise", raiseGeneric, top, x, bias)
}

// AddExp computes sum = sum + exp(x + bias - top), for x + bias not above top. Below exp(-87) it adds that.
func (l Level) AddExp(sum, x, top []float32, bias float32) {
	table[l].addExp.run("add exponential", addExpGeneric, sum, x, top, bias)
}

// ScaledExp computes x = exp(x + bias - top)·factor, for x + bias not above top.
func (l Level) ScaledExp(x, top, factor []float32, bias float32) {
	table[l].scaledExp.run("scaled exponential", scaledExpGeneric, x, top, factor, bias)
}

func raiseGeneric(top, x []float32, bias float32) {
	x = x[:len(top)]
	for i, v := range x {
		top[i] = max(top[i], v+bias)
	}
}

func addExpGeneric(sum, x, top []float32, bias float32) {
	x, top = x[:len(sum)], top[:len(sum)]
	for i, v := range x {
		sum[i] += exponential(v + bias - top[i])
	}
}

func scaledExpGeneric(x, top, factor []float32, bias float32) {
	top, factor = top[:len(x)], factor[:len(x)]
	for i, v := range x {
		x[i] = exponential(v+bias-top[i]) * factor[i]
	}
}
