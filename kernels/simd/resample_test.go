package simd

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// fencedBytes and fencedWords end at memory that faults.
func fencedBytes(t testing.TB, n int) []uint8 {
	floats := fenced(t, (n+3)/4)
	if n == 0 {
		return nil
	}
	all := unsafe.Slice((*uint8)(unsafe.Pointer(&floats[0])), 4*len(floats))
	return all[len(all)-n:]
}

func fencedWords(t testing.TB, n int) []uint32 {
	floats := fenced(t, n)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&floats[0])), n)
}

// fencedShorts is n 16-bit numbers that end at a page that faults.
func fencedShorts(t testing.TB, n int) []int16 {
	floats := fenced(t, (n+1)/2)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*int16)(unsafe.Pointer(&floats[0])), 2*len(floats))[2*len(floats)-n:]
}

func randomBytes(t testing.TB, r *rand.Rand, n int) []uint8 {
	b := fencedBytes(t, n)
	for i := range b {
		b[i] = uint8(r.Uint32())
	}
	return b
}

var resizes = [][2]int{{1, 1}, {1, 9}, {2, 1}, {2, 7}, {3, 2}, {3, 3}, {3, 40}, {4, 3}, {5, 17}, {16, 33}, {40, 3},
	{64, 31}, {100, 101}, {640, 57}}

func TestTaps_AreThoseOfTheDefinition(t *testing.T) {
	var taps Taps // one for all: the previous size must not show
	for _, size := range resizes {
		from, to := size[0], size[1]
		taps.Plan(from, to)
		if taps.Len() != to {
			t.Fatalf("%v: %d positions", size, taps.Len())
		}
		for i := range to {
			// Value of the picture f(x) = x at the position.
			want := min(max((float64(i)+.5)*float64(from)/float64(to)-.5, 0), float64(from-1))
			first, second, weight := taps.At(i)
			got := (float64(first)*float64(one-weight) + float64(second)*float64(weight)) / one
			if !(math.Abs(got-want) <= .5/one) || first < 0 || second >= from || second-first > 1 {
				t.Fatalf("%v: position %d between %d and %d by %d: %g, want %g", size, i, first, second, weight, got, want)
			}
		}
	}
}

func TestResampleRow_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, size := range resizes {
			var taps Taps
			taps.Plan(size[0], size[1])
			src, dst := randomBytes(t, r, 3*size[0]), fencedWords(t, 3*size[1])
			l.ResampleRow(dst, src, &taps)
			for i := range size[1] {
				first, second, weight := taps.At(i)
				for c := range 3 {
					want := uint32(src[3*first+c])*(one-weight) + uint32(src[3*second+c])*weight
					if got := dst[3*i+c]; got != want {
						t.Fatalf("%v: position %d, channel %d: %d, want %d", size, i, c, got, want)
					}
				}
			}
		}
	})
}

func TestBlendRows_EqualsItsDefinition(t *testing.T) {
	const most = 255 * one
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range sizes {
			for _, weight := range []uint32{0, 1, 127, 128, 8191, 8192, one - 1, one} {
				near, far, dst := fencedWords(t, n), fencedWords(t, n), fencedBytes(t, n)
				for i := range near {
					near[i], far[i] = r.Uint32N(most+1), r.Uint32N(most+1)
					switch r.IntN(8) { // halves, and the ends
					case 0:
						near[i], far[i] = most, most
					case 1:
						near[i], far[i] = 100*one+one/2, 100*one+one/2
					case 2:
						near[i], far[i] = 0, most
					}
				}
				l.BlendRows(dst, near, far, weight)
				for i, got := range dst {
					want := (uint64(near[i])*uint64(one-weight) + uint64(far[i])*uint64(weight) + one*one/2) / (one * one)
					if uint64(got) != want {
						t.Fatalf("%d values, weight %d: %d and %d give %d, want %d", n, weight, near[i], far[i], got, want)
					}
				}
			}
		}
	})
}

func TestResample_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		var taps Taps
		taps.Plan(5, 7)
		row, words, pixels := make([]uint8, 15), make([]uint32, 21), make([]uint8, 21)
		refuses(t, map[string]func(){
			"source":  func() { l.ResampleRow(words, row[1:], &taps) },
			"result":  func() { l.ResampleRow(words[1:], row, &taps) },
			"near":    func() { l.BlendRows(pixels, words[1:], words, 0) },
			"far":     func() { l.BlendRows(pixels, words, words[1:], 0) },
			"weight":  func() { l.BlendRows(pixels, words, words, one+1) },
			"no taps": func() { taps.Plan(0, 3) },
		})
	})
}

func FuzzResample(f *testing.F) {
	f.Add(uint16(2), uint16(9), uint16(5), []byte{1, 2, 3, 255})
	f.Add(uint16(640), uint16(224), uint16(16384), []byte{255})
	f.Fuzz(func(t *testing.T, from, to, weight uint16, pixels []byte) {
		var taps Taps
		taps.Plan(int(from%500)+1, int(to%500)+1)
		src := fencedBytes(t, 3*(int(from%500)+1))
		if len(pixels) > 0 {
			for i := range src {
				src[i] = pixels[i%len(pixels)] + uint8(i/len(pixels))
			}
		}
		var want []uint8
		for _, l := range Levels() {
			near, dst := fencedWords(t, 3*taps.Len()), fencedBytes(t, 3*taps.Len())
			l.ResampleRow(near, src, &taps)
			far := slices.Clone(near)
			slices.Reverse(far)
			l.BlendRows(dst, near, far, min(uint32(weight), one))
			if l == Generic {
				want = dst
			} else if !bytes.Equal(dst, want) {
				t.Fatalf("%s differs from the Go twin", l)
			}
		}
	})
}
