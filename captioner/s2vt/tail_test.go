package s2vt

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels"
)

// long is a batch of clips and captions of many lengths, most of them short, and the longest ones not the first.
func long(c Config, clips int) *Batch {
	stream, b := rng.New(13), &Batch{}
	for i := range clips {
		words := make([]int32, 1+stream.Intn(3))
		if i%5 == 2 {
			words = make([]int32, 6+stream.Intn(4))
		}
		for l := range words {
			words[l] = int32(Reserved + stream.Intn(c.Vocabulary-Reserved))
		}
		features := make([]float32, c.Features*(1+stream.Intn(c.Frames)))
		for j := range features {
			features[j] = float32(stream.Normal(0, 1))
		}
		b.Features, b.Captions, b.Samples = append(b.Features, features), append(b.Captions, words), append(b.Samples, 3*i)
	}
	return b
}

// Rows that are left out are those that change nothing: with all of them losses and gradients are the same.
func TestTail_RowsThatAreLeftOutChangeNothing(t *testing.T) {
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		c := small()
		c.Dropout = .3
		n := newNet(t, device, c)
		if n.wide {
			t.Skip("a card computes all rows")
		}
		for _, clips := range []int{9, 16, 21} {
			b := long(c, clips)
			before := slices.Clone(b.Samples)
			got := run(t, n, b, 3)
			p, err := n.planFor(n.arranged(b))
			check(t, err)
			if p.planKey.tail.steps < 2 || p.places() >= p.steps*p.clips {
				t.Fatalf("%d clips have the tail %+v, want one", clips, p.planKey.tail)
			}
			if !slices.Equal(b.Samples, before) {
				t.Fatal("the caller's batch has been rearranged")
			}
			packed := gradients(t, n)
			n.wide = true
			want := run(t, n, b, 3)
			n.wide = false
			if !(math.Abs(got-want) < 1e-5) {
				t.Errorf("%d clips: loss %v, want %v", clips, got, want)
			}
			for name, values := range gradients(t, n) {
				for i, v := range values {
					if !(math.Abs(float64(packed[name][i]-v)) < 1e-5) {
						t.Fatalf("%d clips: %s[%d] is %v, want %v", clips, name, i, packed[name][i], v)
					}
				}
			}
		}
	})
}
