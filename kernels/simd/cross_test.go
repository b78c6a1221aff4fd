package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// crossOf makes the operands of a cross. Each ends at the end of readable memory.
func crossOf(t testing.TB, r *rand.Rand, rows, depth, width int) *Cross {
	c := &Cross{AStride: rows + 3, BStride: width + 1, Depth: depth, DstStride: width + 2, Rows: rows}
	c.A = random(t, r, (depth-1)*c.AStride+rows)
	c.B = random(t, r, (depth-1)*c.BStride+width)
	c.Dst = random(t, r, (rows-1)*c.DstStride+width)
	return c
}

func TestCross_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		unit, width := l.CrossShape()
		for _, depth := range []int{1, 2, 33} {
			for bands := 1; bands <= 3; bands++ {
				for _, load := range []bool{false, true} {
					t.Run(fmt.Sprintf("depth=%d/bands=%d/load=%t", depth, bands, load), func(t *testing.T) {
						c := crossOf(t, r, bands*unit, depth, width)
						c.Load = load
						before := append([]float32(nil), c.Dst...)
						l.Cross(c)
						wantRows(t, c.Dst, before, c.DstStride, width, func(i, j int) (v, bound float64) {
							start := float32(0)
							if load {
								start = before[i*c.DstStride+j]
							}
							return products(start, depth, func(m int) (a, b float32) { return c.A[m*c.AStride+i], c.B[m*c.BStride+j] })
						})
					})
				}
			}
		}
	})
}

// A long sum of small numbers onto a large one keeps them: they are added to each other first.
func TestCross_AddsTheDestinationLast(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		unit, width := l.CrossShape()
		c := crossOf(t, r, unit, 1<<12, width)
		c.Load = true
		for _, list := range [][]float32{c.A, c.B} {
			for i := range list {
				list[i] = 1
			}
		}
		for i := range c.Dst {
			c.Dst[i] = 1 << 25 // one more changes no bit
		}
		l.Cross(c)
		if got, want := c.Dst[0], float32(1<<25+1<<12); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestCross_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		unit, width := l.CrossShape()
		refusesChanged(t, func() Cross { return *crossOf(t, r, 2*unit, 7, width) }, l.Cross, map[string]func(c *Cross){
			"A":         func(c *Cross) { c.A = c.A[1:] },
			"B":         func(c *Cross) { c.B = c.B[1:] },
			"dst":       func(c *Cross) { c.Dst = c.Dst[1:] },
			"rows":      func(c *Cross) { c.Rows-- },
			"no rows":   func(c *Cross) { c.Rows = 0 },
			"no depth":  func(c *Cross) { c.Depth = 0 },
			"stride":    func(c *Cross) { c.DstStride = width - 1 },
			"backwards": func(c *Cross) { c.AStride = -c.AStride },
		})
	})
}

// Prefetching changes nothing, wherever the prefetched data ends.
func TestCross_AheadChangesNoResult(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		unit, width := l.CrossShape()
		c := crossOf(t, r, 2*unit, 9, width)
		l.Cross(c)
		want := append([]float32(nil), c.Dst...)
		c.Ahead, c.AheadStride = fenced(t, 3), 1<<20
		l.Cross(c)
		same(t, "sums", c.Dst, want)
	})
}
