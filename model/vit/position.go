package vit

import (
	"fmt"
	"math"
)

// Interpolation is the way to fit position embeddings, learned for one grid of patches, to another grid. All
// are bicubic. At the borders the last row or column is repeated.
type Interpolation string

// The kinds, each as in the program that the weights come from.
const (
	// Plain aligns the corners of the outermost cells: Hugging Face's DINOv2 and CLIP.
	Plain Interpolation = "bicubic"
	// Antialiased widens the filter to the new cells if these are fewer, and leaves out cells beyond the
	// border: timm, open_clip, DINOv2 with registers.
	Antialiased Interpolation = "bicubic, antialiased"
	// Offset takes the ratio of the grids a little off, (n + .1)/grid: DINOv2's original.
	Offset Interpolation = "bicubic, offset .1"
	// Aligned aligns the centres of the outermost cells: torchvision's interpolate_embeddings.
	Aligned Interpolation = "bicubic, centres aligned"
)

func (i Interpolation) validate() error {
	switch i {
	case Plain, Antialiased, Offset, Aligned:
		return nil
	}
	return fmt.Errorf("vit: interpolation is %q, want %q, %q, %q or %q", i, Plain, Antialiased, Offset, Aligned)
}

// resample turns embeddings of grid×grid cells, D numbers each, into embeddings of h×w cells.
func (i Interpolation) resample(values []float32, grid, h, w, d int) []float32 {
	if h == grid && w == grid {
		return values
	}
	rows, columns := i.taps(grid, h), i.taps(grid, w)
	across := make([]float64, grid*w*d) // grid rows of w cells
	for r := range grid {
		for x, taps := range columns {
			out := across[(r*w+x)*d:][:d]
			for _, t := range taps {
				for k, v := range values[(r*grid+t.from)*d:][:d] {
					out[k] += t.weight * float64(v)
				}
			}
		}
	}
	result, sum := make([]float32, h*w*d), make([]float64, w*d)
	for y, taps := range rows {
		clear(sum)
		for _, t := range taps {
			for k, v := range across[t.from*w*d:][:w*d] {
				sum[k] += t.weight * v
			}
		}
		for k, v := range sum {
			result[y*w*d+k] = float32(v)
		}
	}
	return result
}

// tap is a cell that goes into another one.
type tap struct {
	from   int
	weight float64
}

// taps lists, for each of n cells, its source cells of the old grid along one side.
func (i Interpolation) taps(grid, n int) [][]tap {
	all := make([][]tap, n)
	ratio := float64(grid) / float64(n) // old cells for each new one
	switch {
	case i == Offset:
		ratio = float64(grid) / (float64(n) + .1)
	case i == Aligned && n > 1:
		ratio = float64(grid-1) / float64(n-1)
	case i == Aligned:
		ratio = 0
	}
	for j := range all {
		if i == Antialiased {
			all[j] = widened(ratio, j, grid)
			continue
		}
		centre := ratio*(float64(j)+.5) - .5
		if i == Aligned {
			centre = ratio * float64(j)
		}
		first := math.Floor(centre)
		for k := -1; k <= 2; k++ {
			at := first + float64(k)
			all[j] = append(all[j], tap{min(max(int(at), 0), grid-1), cubic(centre-at, -.75)})
		}
	}
	return all
}

// widened lists the old cells under the filter of new cell j. The filter is ratio times as wide if ratio is
// more than 1.
func widened(ratio float64, j, grid int) []tap {
	scale := max(ratio, 1)
	centre, reach := ratio*(float64(j)+.5), 2*scale
	var all []tap
	sum := 0.
	for from := max(int(centre-reach+.5), 0); from < min(int(centre+reach+.5), grid); from++ {
		weight := cubic((float64(from)+.5-centre)/scale, -.5)
		all = append(all, tap{from, weight})
		sum += weight
	}
	for k := range all {
		all[k].weight /= sum
	}
	return all
}

// cubic is the kernel of Keys (1981) with slope a at 1.
func cubic(x, a float64) float64 {
	switch x = math.Abs(x); {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((x-5)*x+8)*x*a - 4*a
	}
	return 0
}
