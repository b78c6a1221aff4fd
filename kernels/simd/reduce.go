package simd

import (
	"fmt"
	"math"
)

// Fixed point of Reduction: its weights are in units of 2^-22. In memory the upper bits of a weight, with its sign, and
// its lower 11 are words of their own.
const (
	reduceBits = 22
	reduceLow  = 11
)

// MaxReduction is the longest axis that a Reduction is planned for: its table takes eight bytes for each pixel.
const MaxReduction = 1 << 20

// Reduction describes, for every position along an axis of a resized picture, which positions of the source
// it is a weighted mean of. The weights are a triangle around the position. Its half width is one pixel of
// the source or, if the picture shrinks, one pixel of the result. This is the filter BILINEAR of the Python
// library Pillow, with its numbers. With Cubic it is Pillow's filter BICUBIC: Keys' curve with a = -1/2, of
// twice that half width, which is negative in its outer half.
//
// The zero value has no positions. Plan keeps its memory.
type Reduction struct {
	Cubic  bool     // takes effect at the next Plan
	cubic  bool     // of the positions that are there
	from   int      // length of the source
	first  []int32  // in pixels
	bytes  []int32  // 3·first
	taps   []int32  // pixels that have a weight, from the first on
	pairs  []uint16 // 2·groups for each position, of two weights: the upper halves of both, then the lower
	groups int      // of four weights, for each position; 0 after the last
	reach  int      // bytes of a row that are read
	exact  []float64
}

// Plan makes the weights for resizing from a length to another: the first at most MaxReduction, both at least 1.
func (r *Reduction) Plan(from, to int) {
	if from < 1 || to < 1 || from > MaxReduction {
		panic(fmt.Sprintf("simd: a reduction from %d to %d", from, to))
	}
	if r.from == from && len(r.first) == to && r.cubic == r.Cubic {
		return
	}
	r.cubic = r.Cubic
	scale := float64(from) / float64(to)
	support := max(scale, 1)
	if r.cubic {
		support *= 2
	}
	// A window of 2·support can touch one position more than it is long.
	r.groups = (min(from, int(math.Ceil(2*support))+1) + 3) / 4
	if cap(r.first) < to {
		r.first, r.bytes, r.taps = make([]int32, to), make([]int32, to), make([]int32, to)
	}
	r.from, r.first, r.bytes, r.taps, r.reach = from, r.first[:to], r.bytes[:to], r.taps[:to], 0
	if n := to * r.groups * 8; cap(r.pairs) < n {
		r.pairs = make([]uint16, n)
	} else {
		r.pairs = r.pairs[:n]
	}
	for i := range to {
		// The conversions keep a compiler from fusing multiplication and addition, which rounds otherwise.
		r.place(i, float64((float64(i)+.5)*scale), support)
	}
}

// place makes the weights of position i, whose centre is given in pixels of the source.
func (r *Reduction) place(i int, centre, support float64) {
	first := max(int(centre-support+.5), 0)
	end := min(int(centre+support+.5), r.from)
	r.exact = r.exact[:0]
	sum, unit := 0.0, 1/support
	if r.cubic {
		unit = 1 / (support / 2)
	}
	for x := first; x < end; x++ {
		w := r.curve((float64(x) - centre + .5) * unit)
		r.exact = append(r.exact, w)
		sum += w
	}
	row := r.pairs[8*r.groups*i : 8*r.groups*(i+1)]
	clear(row)
	taps := 0
	for x, w := range r.exact {
		k := int32(math.Copysign(.5, w) + float64(w/sum*(1<<reduceBits)))
		if k == 0 && taps == 0 && x+1 < len(r.exact) {
			first++
			continue
		}
		row[taps/2*4+taps%2] = uint16(k >> reduceLow)
		row[taps/2*4+taps%2+2] = uint16(k & (1<<reduceLow - 1))
		taps++
	}
	for taps > 1 && r.weight(i, taps-1) == 0 {
		taps--
	}
	r.first[i], r.bytes[i], r.taps[i] = int32(first), int32(3*first), int32(taps)
	// Of four pixels, 12 bytes, 16 are read.
	r.reach = max(r.reach, 3*first+12*r.groups+4)
}

// curve is the weight of a pixel at a distance, in units in which the triangle ends at 1 and the cubic curve at 2. The
// conversions keep a compiler from fusing multiplication and addition, which rounds otherwise.
func (r *Reduction) curve(x float64) float64 {
	const a = -.5
	x = math.Abs(x)
	switch {
	case !r.cubic:
		return max(0, 1-x)
	case x < 1:
		return float64((float64((a+2)*x)-(a+3))*x*x) + 1
	case x < 2:
		return (float64((float64((x-5)*x)+8)*x) - 4) * a
	}
	return 0
}

// Len is the number of positions.
func (r *Reduction) Len() int { return len(r.first) }

// Reach is how many bytes from the start of a row on ReduceRows may read: some more than a row has.
func (r *Reduction) Reach() int { return r.reach }

// At returns the source positions of position i: the first, and how many there are.
func (r *Reduction) At(i int) (first, count int) { return int(r.first[i]), int(r.taps[i]) }

// Rows is the number of rows that ReduceColumns reads for position i, from the first on: its source
// positions, and one more if their number is odd.
func (r *Reduction) Rows(i int) int { return int(r.taps[i]+1) &^ 1 }

// weight is the weight of source position j, counted from the first, in units of 2^-22.
func (r *Reduction) weight(i, j int) int32 {
	pair := r.pairs[8*r.groups*i+j/2*4:][:4]
	return int32(int16(pair[j%2]))<<reduceLow + int32(pair[2+j%2])
}

// ReduceRows resizes four rows of RGB along x, and rounds to 8 bits, halves up, between 0 and 255. Rows begin
// a stride apart. Rows of src have Reach bytes, whose values after the row do not matter. Rows of dst have
// room for one byte after their pixels. Results are equal at all levels.
func (l Level) ReduceRows(dst []uint8, dstStride int, src []uint8, srcStride int, r *Reduction) {
	if n := 3 * r.Len(); len(src) < 3*srcStride+r.reach || len(dst) < 3*dstStride+n+1 || dstStride <= n ||
		srcStride < 3*r.from || n == 0 {
		panic(fmt.Sprintf("simd: rows of %d bytes in %d, to rows of %d in %d, for a reduction from %d to %d pixels",
			srcStride, len(src), dstStride, len(dst), r.from, r.Len()))
	}
	if k := table[l].reduceRows; k != nil {
		k(at(dst), dstStride, at(src), srcStride, at(r.bytes), at(r.pairs), r.groups, len(r.bytes))
		return
	}
	for row := range 4 {
		reduceRowGeneric(dst[dstStride*row:], src[srcStride*row:], r)
	}
}

// The bytes that the kernels of ReduceColumns compute at once.
const narrowColumns, wideColumns = 32, 64

// ReduceColumns resizes along y. dst becomes row i of the result, from the Rows of src that begin a stride
// apart; the first of them is row At. The row after the last position may hold anything. Results are equal at
// all levels.
func (l Level) ReduceColumns(dst, src []uint8, stride int, r *Reduction, i int) {
	rows := r.Rows(i)
	if stride < len(dst) || len(src) < (rows-1)*stride+len(dst) {
		panic(fmt.Sprintf("simd: %d bytes of %d rows of %d in %d", len(dst), rows, stride, len(src)))
	}
	k := &table[l]
	kernel, batch, n := k.reduceWide, wideColumns, len(dst)
	if kernel == nil || n < batch {
		kernel, batch = k.reduceColumns, narrowColumns
	}
	if kernel == nil || n < batch {
		reduceColumnsGeneric(dst, src, stride, r, i)
		return
	}
	pairs := &r.pairs[8*r.groups*i]
	kernel(at(dst), at(src), stride, pairs, rows/2, n/batch)
	if n%batch > 0 { // the last batch overlaps the one before it
		kernel(&dst[n-batch], &src[n-batch], stride, pairs, rows/2, 1)
	}
}

func reduceRowGeneric(dst, src []uint8, r *Reduction) {
	for i, at := range r.bytes {
		var red, green, blue int32 = 1 << (reduceBits - 1), 1 << (reduceBits - 1), 1 << (reduceBits - 1)
		for j := range int(r.taps[i]) {
			w, pixel := r.weight(i, j), src[int(at)+3*j:][:3]
			red += int32(pixel[0]) * w
			green += int32(pixel[1]) * w
			blue += int32(pixel[2]) * w
		}
		out := dst[3*i:][:3]
		out[0], out[1], out[2] = reduced(red), reduced(green), reduced(blue)
	}
}

func reduceColumnsGeneric(dst, src []uint8, stride int, r *Reduction, i int) {
	taps := int(r.taps[i])
	for x := range dst {
		sum := int32(1 << (reduceBits - 1))
		for j := range taps {
			sum += int32(src[j*stride+x]) * r.weight(i, j)
		}
		dst[x] = reduced(sum)
	}
}

// reduced is the byte of a sum that already includes a half. Cubic curves overshoot at edges.
func reduced(sum int32) uint8 { return uint8(min(max(sum>>reduceBits, 0), math.MaxUint8)) }
