package ref

import "math"

// LayerNorm normalizes rows of d numbers, with the variance as the mean of squares.
func LayerNorm(x, gain, bias []float64, d int, eps float64) []float64 {
	y := make([]float64, len(x))
	for row := 0; row < len(x); row += d {
		mean, variance := 0.0, 0.0
		for i := range d {
			mean += x[row+i] / float64(d)
		}
		for i := range d {
			variance += (x[row+i] - mean) * (x[row+i] - mean) / float64(d)
		}
		for i := range d {
			y[row+i] = (x[row+i]-mean)/math.Sqrt(variance+eps)*gain[i] + bias[i]
		}
	}
	return y
}

// GELU is x·Φ(x) with the distribution function of the normal distribution.
func GELU(x []float64) []float64 {
	return each(x, func(v float64) float64 { return v * math.Erfc(-v/math.Sqrt2) / 2 })
}

// GELUTanh is the approximation of GELU by a hyperbolic tangent, with 1 + tanh(u) as 2·sigmoid(2u).
func GELUTanh(x []float64) []float64 {
	return each(x, func(v float64) float64 { return v * Sigmoid(2*math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)) })
}

// GELUQuick is x·sigmoid(1.702·x).
func GELUQuick(x []float64) []float64 {
	return each(x, func(v float64) float64 { return v * Sigmoid(1.702*v) })
}

func each(x []float64, f func(v float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

// Attention is multi-head self-attention of n×t×3d queries, keys and values.
func Attention(qkv []float64, n, t, d, heads int) []float64 {
	y := make([]float64, n*t*d)
	width := d / heads
	weights := make([]float64, t)
	for bag := range n {
		for head := range heads {
			at := func(token, part, i int) float64 { return qkv[((bag*t+token)*3+part)*d+head*width+i] }
			for query := range t {
				top := math.Inf(-1)
				for key := range t {
					weights[key] = 0
					for i := range width {
						weights[key] += at(query, 0, i) * at(key, 1, i)
					}
					weights[key] /= math.Sqrt(float64(width))
					top = math.Max(top, weights[key])
				}
				sum := 0.0
				for key := range t {
					weights[key] = math.Exp(weights[key] - top)
					sum += weights[key]
				}
				for i := range width {
					for key := range t {
						y[(bag*t+query)*d+head*width+i] += weights[key] / sum * at(key, 2, i)
					}
				}
			}
		}
	}
	return y
}

// Linear is x·wᵀ + b for rows of c numbers and k×c weights; b may be nil.
func Linear(x, w, b []float64, c, k int) []float64 {
	var y []float64
	for row := 0; row < len(x); row += c {
		for j := range k {
			sum := Dot(x[row:row+c], w[j*c:])
			if b != nil {
				sum += b[j]
			}
			y = append(y, sum)
		}
	}
	return y
}

// AddScaled is r + scale ⊙ x for rows of d numbers; scale may be nil.
func AddScaled(x, r, scale []float64, d int) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		factor := 1.0
		if scale != nil {
			factor = scale[i%d]
		}
		y[i] = r[i] + factor*x[i]
	}
	return y
}

// Tokens puts the prefix before the l patches of each of n pictures, and adds the positions to these; prefix and
// position may be nil.
func Tokens(patches, prefix, position []float64, n, l, d int) []float64 {
	var y []float64
	for bag := range n {
		y = append(y, prefix...)
		for i := range l * d {
			v := patches[bag*l*d+i]
			if position != nil {
				v += position[i]
			}
			y = append(y, v)
		}
	}
	return y
}

// PatchEmbed projects patches of p×p pixels of n×h×w×c pictures by k×p×p×c weights; b may be nil.
func PatchEmbed(x, weights, b []float64, n, h, w, c, p, k int) []float64 {
	var y []float64
	for bag := range n {
		for top := 0; top < h; top += p {
			for left := 0; left < w; left += p {
				for out := range k {
					sum := 0.0
					if b != nil {
						sum = b[out]
					}
					for r := range p {
						for s := range p {
							for channel := range c {
								sum += x[index4(h, w, c, bag, top+r, left+s, channel)] * weights[index4(p, p, c, out, r, s, channel)]
							}
						}
					}
					y = append(y, sum)
				}
			}
		}
	}
	return y
}
