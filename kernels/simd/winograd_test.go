package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// winogradPoints are the points of the transforms except infinity.
var winogradPoints = []float64{0, math.Sqrt(.5), -math.Sqrt(.5), math.Sqrt2, -math.Sqrt2}

// evaluation is the matrix that gives the values of a polynomial of n coefficients at the points.
func evaluation(n int) [][]float64 {
	var m [][]float64
	for _, p := range winogradPoints {
		row := make([]float64, n)
		for j := range row {
			row[j] = math.Pow(p, float64(j))
		}
		m = append(m, row)
	}
	infinity := make([]float64, n)
	infinity[n-1] = 1
	return append(m, infinity)
}

// normalised divides the values at each point by the product of its distances from the others.
func normalised(m [][]float64) [][]float64 {
	for i, p := range winogradPoints {
		norm := 1.
		for _, q := range winogradPoints {
			if q != p {
				norm *= p - q
			}
		}
		for j := range m[i] {
			m[i][j] /= norm
		}
	}
	return m
}

// vanishing is the matrix Bᵀ: the coefficients of the polynomials that vanish at all points but one.
func vanishing() [][]float64 {
	product := func(leave int) []float64 {
		coefficients := append(make([]float64, 5), 0)
		coefficients[0] = 1
		for i, p := range winogradPoints {
			if i == leave {
				continue
			}
			for j := 5; j >= 0; j-- {
				coefficients[j] *= -p
				if j > 0 {
					coefficients[j] += coefficients[j-1]
				}
			}
		}
		return coefficients
	}
	var m [][]float64
	for i := range 6 { // the last leaves none out
		m = append(m, product(i))
	}
	return m
}

func transposed(m [][]float64) [][]float64 {
	t := make([][]float64, len(m[0]))
	for i := range t {
		for j := range m {
			t[i] = append(t[i], m[j][i])
		}
	}
	return t
}

// winogradTransform is a kernel with the matrix that it must multiply by.
type winogradTransform struct {
	name   string
	matrix [][]float64
	run    func(l Level, dst, src Matrix, channels int)
}

func winogradTransforms() []winogradTransform {
	output := func(dst, src Matrix, channels int) *WinogradOutput {
		return &WinogradOutput{Dst: dst, Src: src, Rows: 4, Columns: 4, Channels: channels}
	}
	return []winogradTransform{
		{"input", vanishing(), Level.WinogradInput},
		{"filter", normalised(evaluation(3)), Level.WinogradFilter},
		{"gradient", evaluation(4), Level.WinogradGradient},
		{"filterGradient", transposed(normalised(evaluation(3))), func(l Level, dst, src Matrix, channels int) {
			l.WinogradFilterGradient(dst, src, channels, false)
		}},
		{"output", transposed(evaluation(4)), func(l Level, dst, src Matrix, channels int) {
			l.WinogradOutput(output(dst, src, channels))
		}},
		{"dataGradient", transposed(evaluation(4)), func(l Level, dst, src Matrix, channels int) {
			l.WinogradDataGradient(output(dst, src, channels))
		}},
	}
}

// want returns an element of L x Lᵀ and the magnitude of its sum.
func (w winogradTransform) want(src Matrix, i, j, channel int) (v, bound float64) {
	for m := range w.matrix[i] {
		for n := range w.matrix[j] {
			term := w.matrix[i][m] * w.matrix[j][n] * float64(src.Data[m*src.Row+n*src.Column+channel])
			v, bound = v+term, bound+math.Abs(term)
		}
	}
	return v, bound
}

// matrixOf is a matrix of random vectors that ends at the end of readable memory.
func matrixOf(t testing.TB, r *rand.Rand, side, channels, slack int) Matrix {
	column := channels + slack
	return Matrix{Data: random(t, r, side*side*column-slack), Row: side * column, Column: column}
}

func TestWinogradTransforms_EqualTheirMatrices(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, w := range winogradTransforms() {
			for _, channels := range []int{16, 48} {
				src := matrixOf(t, r, len(w.matrix[0]), channels, 5)
				dst := matrixOf(t, r, len(w.matrix), channels, 3)
				before := append([]float32(nil), dst.Data...)
				w.run(l, dst, src, channels)
				for at, got := range dst.Data {
					i, j, c := at/dst.Row, at%dst.Row/dst.Column, at%dst.Column
					if c >= channels {
						if got != before[at] {
							t.Fatalf("%s: wrote between vectors at %d", w.name, at)
						}
						continue
					}
					if want, bound := w.want(src, i, j, c); !near(got, want, bound) {
						t.Fatalf("%s of %d channels: %d,%d of channel %d is %g, want %g", w.name, channels, i, j, c, got, want)
					}
				}
			}
		}
	})
}

func TestWinogradFilterGradient_AddsToWhatIsThere(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		src, dst := matrixOf(t, r, 6, 32, 0), matrixOf(t, r, 3, 32, 0)
		plain := dst
		plain.Data = make([]float32, len(dst.Data))
		l.WinogradFilterGradient(plain, src, 32, false)
		for i, v := range dst.Data {
			plain.Data[i] += v
		}
		l.WinogradFilterGradient(dst, src, 32, true)
		for i, want := range plain.Data {
			if dst.Data[i] != want {
				t.Fatalf("element %d is %g, want %g", i, dst.Data[i], want)
			}
		}
	})
}

// An output equals the plain transform, finished by the rules of a tile.
func TestWinogradOutput_FinishesWhatIsInside(t *testing.T) {
	const channels = 32
	nan := float32(math.NaN())
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for variant := range 64 {
			src := matrixOf(t, r, 6, channels, 0)
			if variant%3 == 0 {
				src.Data[5] = nan
			}
			plain := matrixOf(t, r, 4, channels, 0)
			l.WinogradOutput(&WinogradOutput{Dst: plain, Src: src, Rows: 4, Columns: 4, Channels: channels})
			o := WinogradOutput{Src: src, Rows: 1 + variant%4, Columns: 1 + variant/4%4, Channels: channels}
			o.Dst = Matrix{Row: 5 * channels, Column: channels}
			o.Dst.Data = random(t, r, (o.Rows-1)*o.Dst.Row+o.Columns*o.Dst.Column)
			first, second := variant&16 != 0, variant&32 != 0
			for _, forward := range []bool{true, false} {
				o.Bias, o.Mask, o.ReLU, o.Load = nil, nil, forward && second, !forward && second
				if forward && first {
					o.Bias = random(t, r, channels)
				}
				if !forward && first {
					o.Mask = random(t, r, len(o.Dst.Data))
					o.Mask[0] = nan
				}
				before := append([]float32(nil), o.Dst.Data...)
				if forward {
					l.WinogradOutput(&o)
				} else {
					l.WinogradDataGradient(&o)
				}
				if err := checkOutput(&o, before, plain); err != nil {
					t.Fatalf("%+v forward=%t: %v", []int{o.Rows, o.Columns, variant}, forward, err)
				}
			}
		}
	})
}

func checkOutput(o *WinogradOutput, before []float32, plain Matrix) error {
	for at, got := range o.Dst.Data {
		i, j, c := at/o.Dst.Row, at%o.Dst.Row/o.Dst.Column, at%o.Dst.Column
		want := before[at]
		if j < o.Columns {
			want = plain.Data[i*plain.Row+j*plain.Column+c]
			if o.Bias != nil {
				want += o.Bias[c]
			}
			if o.Load {
				want += before[at]
			}
			if o.ReLU && want < 0 || o.Mask != nil && o.Mask[at] <= 0 {
				want = 0
			}
		}
		if got != want && !(got != got && want != want) {
			return fmt.Errorf("%d,%d of channel %d is %g, want %g", i, j, c, got, want)
		}
	}
	return nil
}

func TestWinograd_RefusesSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, w := range winogradTransforms() {
			for name, change := range map[string]func(dst, src *Matrix){
				"dst":    func(dst, _ *Matrix) { dst.Data = dst.Data[1:] },
				"src":    func(_, src *Matrix) { src.Data = src.Data[1:] },
				"stride": func(dst, _ *Matrix) { dst.Row = -dst.Row },
			} {
				dst, src := matrixOf(t, r, len(w.matrix), 16, 0), matrixOf(t, r, len(w.matrix[0]), 16, 0)
				change(&dst, &src)
				if !panics(func() { w.run(l, dst, src, 16) }) {
					t.Errorf("%s: accepted a wrong %s", w.name, name)
				}
			}
			dst, src := matrixOf(t, r, len(w.matrix), 24, 0), matrixOf(t, r, len(w.matrix[0]), 24, 0)
			if !panics(func() { w.run(l, dst, src, 24) }) {
				t.Errorf("%s: accepted 24 channels", w.name)
			}
		}
		o := WinogradOutput{Dst: matrixOf(t, r, 4, 16, 0), Src: matrixOf(t, r, 6, 16, 0), Rows: 4, Columns: 4, Channels: 16}
		refusesChanged(t, func() WinogradOutput { return o }, l.WinogradOutput, map[string]func(o *WinogradOutput){
			"rows":    func(o *WinogradOutput) { o.Rows = 5 },
			"columns": func(o *WinogradOutput) { o.Columns = -1 },
			"bias":    func(o *WinogradOutput) { o.Bias = make([]float32, 15) },
			"mask":    func(o *WinogradOutput) { o.Mask = make([]float32, 15) },
		})
	})
}
