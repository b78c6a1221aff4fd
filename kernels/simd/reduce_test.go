package simd

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// definition returns the weights in floating point, of all source positions for position i. The cubic curve
// is Keys' for a = -1/2, as a sum of powers.
func definition(cubic bool, from, to, i int) []float64 {
	scale := float64(from) / float64(to)
	width := max(scale, 1)
	weights, sum := make([]float64, from), 0.0
	for x := range weights {
		off := math.Abs(float64(x)+.5-(float64(i)+.5)*scale) / width
		weights[x] = max(0, 1-off)
		if cubic && off < 1 {
			weights[x] = 1.5*math.Pow(off, 3) - 2.5*off*off + 1
		} else if cubic {
			off = min(off, 2)
			weights[x] = -.5*math.Pow(off, 3) + 2.5*off*off - 4*off + 2
		}
		sum += weights[x]
	}
	for x := range weights {
		weights[x] /= sum
	}
	return weights
}

var reductions = append([][2]int{{33, 4}, {57, 8}, {640, 224}, {500, 1}, {7, 7}}, resizes...)

func TestReduction_WeightsAreThoseOfTheDefinition(t *testing.T) {
	var r Reduction // one for all: the previous size must not show
	for n, size := range slices.Concat(reductions, reductions) {
		r.Cubic = n%2 > 0
		r.Plan(size[0], size[1])
		if r.Len() != size[1] {
			t.Fatalf("%v: %d positions", size, r.Len())
		}
		for i := range size[1] {
			first, taps := r.At(i)
			sum := 0
			for x, want := range definition(r.Cubic, size[0], size[1], i) {
				got := int32(0)
				if x >= first && x < first+taps {
					got = r.weight(i, x-first)
				}
				sum += int(got)
				if !(math.Abs(float64(got)-want*(1<<reduceBits)) <= 1) {
					t.Fatalf("%v: position %d has %d of %d, want %g", size, i, got, x, want*(1<<reduceBits))
				}
			}
			if off := sum - 1<<reduceBits; off > taps || off < -taps || r.Rows(i) < taps || r.Rows(i)%2 > 0 {
				t.Fatalf("%v: position %d: weights of %d pixels in %d rows add up to %d", size, i, taps, r.Rows(i), sum)
			}
		}
	}
}

// mean returns a weighted mean of bytes, rounded with halves up, between 0 and 255.
func (r *Reduction) mean(i int, value func(x int) uint8) uint8 {
	first, taps := r.At(i)
	sum := int64(1 << (reduceBits - 1))
	for j := range taps {
		sum += int64(value(first+j)) * int64(r.weight(i, j))
	}
	return uint8(min(max(sum>>reduceBits, 0), 255))
}

func TestReduceRows_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, rand *rand.Rand) {
		for n, size := range slices.Concat(reductions, reductions) {
			r := Reduction{Cubic: n < len(reductions)}
			r.Plan(size[0], size[1])
			srcStride, dstStride := 3*size[0]+rand.IntN(3), 3*size[1]+1+rand.IntN(3)
			src, dst := randomBytes(t, rand, 3*srcStride+r.Reach()), fencedBytes(t, 3*dstStride+3*size[1]+1)
			for i := range src[:len(src)/2] { // white all the same
				src[i] |= uint8(-int(src[len(src)-1] & 1))
			}
			if n%3 == 0 { // edges, at which cubic curves leave the range
				for i := range src {
					src[i] = uint8(-int(src[i] & 1))
				}
			}
			l.ReduceRows(dst, dstStride, src, srcStride, &r)
			for row := range 4 {
				for i := range 3 * size[1] {
					want := r.mean(i/3, func(x int) uint8 { return src[row*srcStride+3*x+i%3] })
					if got := dst[row*dstStride+i]; got != want {
						t.Fatalf("%v: row %d, byte %d is %d, want %d", size, row, i, got, want)
					}
				}
			}
		}
	})
}

func TestReduceColumns_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, rand *rand.Rand) {
		columns := [][2]int{{1, 1}, {1, 3}, {4, 3}, {9, 2}, {57, 3}, {3, 8}}
		for n, size := range slices.Concat(columns, columns) {
			r := Reduction{Cubic: n < len(columns)}
			r.Plan(size[0], size[1])
			for _, n := range []int{1, 3, 31, 32, 33, 63, 64, 65, 96, 127, 128, 672, 1695} {
				stride := n + rand.IntN(5)
				for i := range size[1] {
					first, _ := r.At(i)
					src := randomBytes(t, rand, (r.Rows(i)-1)*stride+n)
					if r.Cubic && n%2 > 0 { // edges
						for i := range src {
							src[i] = uint8(-int(src[i] & 1))
						}
					}
					dst := fencedBytes(t, n)
					l.ReduceColumns(dst, src, stride, &r, i)
					for x, got := range dst {
						if want := r.mean(i, func(y int) uint8 { return src[(y-first)*stride+x] }); got != want {
							t.Fatalf("%v, row %d of %d bytes: byte %d is %d, want %d", size, i, n, x, got, want)
						}
					}
				}
			}
		}
	})
}

func TestReduce_WhiteStaysWhite(t *testing.T) {
	for from := 1; from < 80; from++ {
		for n := 2; n < 80; n++ {
			to, r := n/2, Reduction{Cubic: n%2 > 0}
			r.Plan(from, to)
			for i := range to {
				if got := r.mean(i, func(int) uint8 { return 255 }); got != 255 {
					t.Fatalf("%d to %d: position %d of white is %d", from, to, i, got)
				}
			}
		}
	}
}

func TestReduce_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		var r Reduction
		r.Plan(9, 4)
		src, dst := make([]uint8, 3*27+r.Reach()), make([]uint8, 3*13+13)
		refuses(t, map[string]func(){
			"source":       func() { l.ReduceRows(dst, 13, src[1:], 27, &r) },
			"result":       func() { l.ReduceRows(dst[1:], 13, src, 27, &r) },
			"close rows":   func() { l.ReduceRows(dst, 12, src, 27, &r) },
			"no positions": func() { l.ReduceRows(dst, 13, src, 27, new(Reduction)) },
			"few rows":     func() { l.ReduceColumns(dst[:10], src[:10*r.Rows(1)-1], 10, &r, 1) },
			"narrow rows":  func() { l.ReduceColumns(dst[:10], src, 9, &r, 1) },
			"no length":    func() { r.Plan(0, 3) },
			"too long":     func() { r.Plan(MaxReduction+1, 3) },
		})
	})
}

func FuzzReduce(f *testing.F) {
	f.Add(uint16(2), uint16(9), []byte{1, 2, 3, 255})
	f.Add(uint16(640), uint16(224), []byte{255})
	f.Add(uint16(640), uint16(224+300*200), []byte{255, 255, 255, 0, 0, 0, 0})
	f.Add(uint16(399), uint16(0), []byte{255, 0})
	f.Fuzz(func(t *testing.T, from, to uint16, pixels []byte) {
		r := Reduction{Cubic: to >= 1<<15}
		r.Plan(int(from%700)+1, int(to%300)+1)
		width, out := 3*r.from, 3*r.Len()+1
		src := fencedBytes(t, 3*width+r.Reach())
		for i := range src {
			if len(pixels) > 0 {
				src[i] = pixels[i%len(pixels)] + uint8(i/len(pixels))
			}
		}
		var rows, columns []uint8
		for _, l := range Levels() {
			got := fencedBytes(t, 3*out+out)
			l.ReduceRows(got, out, src, width, &r)
			var down []uint8
			for i := range min(r.Len(), 5) {
				row := fencedBytes(t, len(src)/r.Rows(i))
				l.ReduceColumns(row, src, len(row), &r, i)
				down = append(down, row...)
			}
			for row := range 4 { // which ends with a byte that is nothing
				got[row*out+out-1] = 0
			}
			if l == Generic {
				rows, columns = got, down
			} else if !bytes.Equal(got, rows) || !bytes.Equal(down, columns) {
				t.Fatalf("%s differs from the Go twin", l)
			}
		}
	})
}
