package update

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/optest"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// drawRanks are the gradients of ranks, of lengths around a block.
func drawRanks(t testing.TB, ranks int) [][][]float32 {
	stream := rng.New(7)
	all := make([][][]float32, ranks)
	for rank := range all {
		for _, length := range []int{0, 1, Block, 2*Block + 5} {
			all[rank] = append(all[rank], optest.Normal(t, &stream, 1, length).Float32s())
		}
	}
	return all
}

// Parts of any rank are the sums of all in their order, scaled, with the squares of each block; nothing else changes,
// at any level and number of threads.
func TestSumParts_IsTheFormula(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4} {
		drawn := drawRanks(t, ranks)
		optest.EachHost(func(level simd.Level, threads int) {
			for _, own := range []int{0, ranks - 1} {
				for _, scale := range []float32{1, 1. / 3} {
					name := fmt.Sprintf("%d ranks, part of rank %d, times %g, %s, %d threads", ranks, own, scale, level, threads)
					got, parts := make([][][]float32, ranks), []Part(nil)
					for rank := range got {
						for _, part := range drawn[rank] {
							got[rank] = append(got[rank], slices.Clone(part))
						}
					}
					for i := range got[0] {
						p := Part{Own: own}
						for rank := range ranks {
							p.Ranks = append(p.Ranks, got[rank][i])
						}
						parts = append(parts, p)
					}
					squares := make([]float64, 5)
					optest.Must(t, newCPUAt(t, threads, level).SumParts(squares, parts, scale))
					checkParts(t, name, got, drawn, own, scale, squares)
				}
			}
		})
	}
}

func checkParts(t *testing.T, name string, got, drawn [][][]float32, own int, scale float32, squares []float64) {
	t.Helper()
	for rank := range drawn {
		for i := range drawn[rank] {
			if rank != own && !slices.Equal(got[rank][i], drawn[rank][i]) {
				t.Fatalf("%s: rank %d has other gradients", name, rank)
			}
		}
	}
	block := 0
	for i, sums := range got[own] {
		square := 0.0
		for k, v := range sums {
			want := drawn[0][i][k]
			for _, theirs := range drawn[1:] {
				want += theirs[i][k]
			}
			if want *= scale; v != want {
				t.Fatalf("%s: element %d of part %d is %g, want %g", name, k, i, v, want)
			}
			square += float64(v) * float64(v)
			if k%Block == Block-1 || k == len(sums)-1 {
				if math.Abs(squares[block]-square) > 1e-9*square {
					t.Fatalf("%s: squares of block %d are %g, want %g", name, block, squares[block], square)
				}
				square, block = 0, block+1
			}
		}
	}
}

func TestSumParts_RefusesWhatDoesNotFit(t *testing.T) {
	c, two := newTestCPU(t, 1), [][]float32{{1, 2}, {3, 4}}
	for name, err := range map[string]error{
		"no such rank":  c.SumParts(make([]float64, 1), []Part{{Ranks: two, Own: 2}}, 1),
		"negative rank": c.SumParts(make([]float64, 1), []Part{{Ranks: two, Own: -1}}, 1),
		"no ranks":      c.SumParts(nil, []Part{{}}, 1),
		"short rank":    c.SumParts(make([]float64, 1), []Part{{Ranks: [][]float32{{1, 2}, {3}}}}, 1),
		"no squares":    c.SumParts(nil, []Part{{Ranks: two}}, 1),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !slices.Equal(two[0], []float32{1, 2}) {
		t.Errorf("refused parts were summed: %v", two)
	}
}

func TestSumParts_AllocatesNothing(t *testing.T) {
	c, ranks, squares := newTestCPU(t, 2), drawRanks(t, 3), make([]float64, 3)
	parts := []Part{{Ranks: [][]float32{ranks[0][3], ranks[1][3], ranks[2][3]}, Own: 1}}
	if n := testing.AllocsPerRun(10, func() { optest.Must(t, c.SumParts(squares, parts, 1)) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Parts that begin at multiples of Block are updated as the whole is, bit for bit.
func TestUpdate_PartsAreUpdatedAsTheWhole(t *testing.T) {
	optest.EachHost(func(level simd.Level, threads int) {
		c := newCPUAt(t, threads, level)
		norm := optest.Vector(t, 10)
		update := func(entries []Entry) {
			optest.Must(t, c.Clip(entries, norm, 1), c.SGD(entries, .9),
				c.Adam(entries, AdamParams{Beta1: .9, Beta2: .999, Epsilon: 1e-8, Step: 3}),
				c.AdamW(entries, AdamParams{Beta1: .9, Beta2: .999, Epsilon: 1e-8, Step: 3}))
		}
		whole, cut := drawEntries(t, 5), drawEntries(t, 5)
		update(whole)
		for _, cuts := range [][2]int{{0, Block}, {Block, 2*Block + 5}} {
			var parts []Entry
			for _, e := range cut {
				from, to := min(cuts[0], e.G.Len()), min(cuts[1], e.G.Len())
				for _, x := range []**tensor.Tensor{&e.W, &e.G, &e.M, &e.V} {
					*x, _ = (*x).Rows(from, to)
				}
				if from < to {
					parts = append(parts, e)
				}
			}
			update(parts)
		}
		for i, e := range whole {
			if !slices.Equal(e.W.Float32s(), cut[i].W.Float32s()) || !slices.Equal(e.M.Float32s(), cut[i].M.Float32s()) {
				t.Fatalf("%s, %d threads: entry %d differs", level, threads, i)
			}
		}
	})
}
