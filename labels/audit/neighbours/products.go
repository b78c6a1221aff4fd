package neighbours

import (
	"context"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/kernels/simd"
)

// How rows are cut for products: rows of a block, which one goroutine compares, and rows of a chunk, which all of
// them are compared with before the next chunk is packed. Results depend on neither.
const (
	blockRows = 96
	chunkRows = 4096
)

// spare is how many candidates are kept beyond k: products are float32, and the order of close ones is found in
// float64.
const spare = 8

// candidates are the rows with the largest products with one row so far, the largest first; on ties the first
// row.
type candidates struct {
	products []float32
	rows     []int32
}

func (c *candidates) put(product float32, row int32) {
	n := len(c.products)
	if n == cap(c.products) {
		n--
	} else {
		c.products, c.rows = c.products[:n+1], c.rows[:n+1]
	}
	for n > 0 && product > c.products[n-1] {
		c.products[n], c.rows[n] = c.products[n-1], c.rows[n-1]
		n--
	}
	c.products[n], c.rows[n] = product, row
}

// byProducts finds the neighbours of all rows by x·y, or x·y - |y|²/2 for Euclidean, which are the larger the nearer y
// is to x.
func (s *search) byProducts(ctx context.Context, progress *parallel.Progress) error {
	level, err := simd.Detect()
	if err != nil {
		return err
	}
	tile, wide, _ := level.TileShape()
	most := min(s.k+spare, s.n-1)
	found := make([]candidates, s.n)
	products, rows := make([]float32, s.n*most), make([]int32, s.n*most)
	for i := range found {
		found[i] = candidates{products[i*most : i*most : (i+1)*most], rows[i*most : i*most : (i+1)*most]}
	}
	blocks := (s.n + blockRows - 1) / blockRows
	progress.Total = blocks * ((s.n + chunkRows - 1) / chunkRows)
	panels := make([]float32, (min(chunkRows, s.n)+wide-1)/wide*wide*s.d)
	for lo := 0; lo < s.n; lo += chunkRows {
		hi := min(lo+chunkRows, s.n)
		s.pack(level, wide, panels, lo, hi)
		err := parallel.Run(ctx, blocks, 0, func() func(int) {
			b := newBlock(level, tile, wide, s.d)
			return func(block int) {
				s.compare(b, panels, lo, hi, block*blockRows, found[block*blockRows:])
				progress.Add(1)
			}
		})
		if err != nil {
			return err
		}
	}
	return parallel.Run(ctx, blocks, 0, func() func(int) {
		exact := make([]near, 0, most)
		return func(block int) {
			for i := block * blockRows; i < min((block+1)*blockRows, s.n); i++ {
				exact = exact[:0]
				for _, j := range found[i].rows {
					exact = append(exact, near{j, s.distance(i, int(j))})
				}
				slices.SortFunc(exact, compareNear)
				copy(s.nearest[i*s.k:(i+1)*s.k], exact)
			}
		}
	})
}

// pack packs rows lo to hi in panels of wide columns; columns beyond the last row are 0.
func (s *search) pack(level simd.Level, wide int, panels []float32, lo, hi int) {
	for at := lo; at < hi; at += wide {
		panel, valid := panels[(at-lo)*s.d:][:wide*s.d], min(wide, hi-at)
		if valid < wide {
			clear(panel)
		}
		level.Transpose(panel, wide, s.x[at*s.d:], s.d, valid, s.d)
	}
}

// block is the working memory of a goroutine.
type block struct {
	level      simd.Level
	tile, wide int
	products   []float32 // blockRows × wide
	bias       []float32
	offsets    []int
	t          simd.Tile
}

func newBlock(level simd.Level, tile, wide, d int) *block {
	return &block{level: level, tile: tile, wide: wide, products: make([]float32, blockRows*wide),
		bias: make([]float32, wide), offsets: make([]int, blockRows+tile),
		t: simd.Tile{Taps: 1, Depth: d, DstStride: wide}}
}

// compare compares the rows of a block, from first on, with a chunk; found are the candidates of the block.
func (s *search) compare(b *block, panels []float32, lo, hi, first int, found []candidates) {
	n := min(blockRows, s.n-first)
	for i := range b.offsets {
		b.offsets[i] = min(i, n-1) * s.d
	}
	t := &b.t
	t.A = s.x[first*s.d : (first+n)*s.d]
	for at := lo; at < hi; at += b.wide {
		valid := min(b.wide, hi-at)
		t.Panel = panels[(at-lo)*s.d:][:b.wide*s.d]
		if s.bias != nil {
			copy(b.bias, s.bias[at:at+valid])
			t.Bias = b.bias
		}
		for i := 0; i < n; i += b.tile {
			t.Rows, t.Offsets, t.Dst = min(b.tile, n-i), b.offsets[i:], b.products[i*b.wide:]
			b.level.Multiply(t, b.wide)
		}
		for i := range n {
			own, least := &found[i], float32(math.Inf(-1))
			if len(own.products) == cap(own.products) {
				least = own.products[len(own.products)-1]
			}
			for j, product := range b.products[i*b.wide:][:valid] {
				if product > least && at+j != first+i {
					if own.put(product, int32(at+j)); len(own.products) == cap(own.products) {
						least = own.products[len(own.products)-1]
					}
				}
			}
		}
	}
}
