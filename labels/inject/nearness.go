package inject

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"nmn/format/table"
	"nmn/loader"
)

// nearness is how near the bags of a set that have one label are to another class.
type nearness struct {
	class []int     // the nearest other class of each bag, -1 if all are equally near
	rank  []float64 // share of the bags that are less near
}

// chance is the probability that the label of a bag is wrong. Its mean over the bags is the share. With a share up to
// 1/3 no label is more often wrong than right, so that the true class can be learned.
func (n *nearness) chance(bag int, share float64) float64 {
	return share + (n.rank[bag]-.5)*min(share, 1-share)
}

// nearSource is a loader.Source that finds how near its pictures are to each class.
type nearSource interface {
	Near(bag int, near []float64)
}

// nearest finds the nearest other class of each bag. Features are near to a class if they are near to the mean of its
// features, each divided by its standard deviation. Several vectors of a bag count by their mean, and missing values as
// the mean of all bags. Pictures are near by what their source says.
func nearest(ctx context.Context, s *loader.Set) (*nearness, error) {
	k := s.Vocabulary.Len()
	given := make([]int, s.Len())
	for bag := range given {
		given[bag] = int(table.OnlyClass(labelsOf(s, bag)))
	}
	source, ok := s.Source.(nearSource)
	var near func(bag int, out []float64) error
	switch {
	case s.Vectors != nil:
		f, err := classMeans(ctx, s, given)
		if err != nil {
			return nil, err
		}
		near = func(bag int, out []float64) error { return f.near(ctx, bag, out) }
	case ok:
		near = func(bag int, out []float64) error { source.Near(bag, out); return nil }
	default:
		return nil, errors.New("how near a picture is to another class is found from features, or for scenes: " +
			"give another `data.noise_kind`, or features of the pictures (nmn extract)")
	}
	n := &nearness{class: make([]int, s.Len()), rank: make([]float64, s.Len())}
	by, out, bags := make([]float64, s.Len()), make([]float64, k), []int(nil)
	for bag, own := range given {
		if own == int(table.UnknownClass) {
			continue
		}
		if err := near(bag, out); err != nil {
			return nil, err
		}
		best, worst := -1, -1
		for c, v := range out {
			if c != own && (best < 0 || v > out[best]) {
				best = c
			}
			if c != own && (worst < 0 || v < out[worst]) {
				worst = c
			}
		}
		bags, n.class[bag], by[bag] = append(bags, bag), best, out[best]-out[own]
		if out[best] == out[worst] {
			n.class[bag] = -1
		}
	}
	slices.SortStableFunc(bags, func(a, b int) int { return cmp.Compare(by[a], by[b]) })
	for at, bag := range bags {
		n.rank[bag] = (float64(at) + .5) / float64(len(bags))
	}
	return n, nil
}

// featureMeans are the means of features of each class, and the means and deviations of all.
type featureMeans struct {
	set                    *loader.Set
	classes, mean, inverse []float64 // K×D, D and D
	bags                   []int     // of each class
	frame                  []float32
	vector                 []float64
}

func classMeans(ctx context.Context, s *loader.Set, given []int) (*featureMeans, error) {
	d, k := s.Vectors.Width(), s.Vocabulary.Len()
	f := &featureMeans{set: s, classes: make([]float64, k*d), mean: make([]float64, d), inverse: make([]float64, d),
		bags: make([]int, k), frame: make([]float32, d), vector: make([]float64, d)}
	squares, counts, sizes := make([]float64, d), make([]float64, d), make([]float64, k*d)
	for bag, own := range given {
		if own == int(table.UnknownClass) {
			continue
		}
		if err := f.read(ctx, bag); err != nil {
			return nil, err
		}
		f.bags[own]++
		for i, v := range f.vector {
			if !math.IsNaN(v) {
				f.mean[i] += v
				squares[i] += v * v
				counts[i]++
				f.classes[own*d+i] += v
				sizes[own*d+i]++
			}
		}
	}
	for i := range d {
		n := max(counts[i], 1)
		f.mean[i] /= n
		if variance := squares[i]/n - f.mean[i]*f.mean[i]; variance > 1e-12*squares[i]/n {
			f.inverse[i] = 1 / math.Sqrt(variance)
		}
		for c := range k {
			if at := c*d + i; sizes[at] > 0 {
				f.classes[at] /= sizes[at]
			} else {
				f.classes[at] = f.mean[i]
			}
		}
	}
	return f, nil
}

// read sets vector to the mean of the vectors of a bag, NaN for missing values.
func (f *featureMeans) read(ctx context.Context, bag int) error {
	clear(f.vector)
	frames := f.set.Vectors.Frames(bag)
	for frame := range frames {
		if err := f.set.Vectors.Read(ctx, bag, frame, f.frame); err != nil {
			return err
		}
		for i, v := range f.frame {
			f.vector[i] += float64(v) / float64(frames)
		}
	}
	return nil
}

// near sets minus the distance of a bag to each class, infinite for a class without bags.
func (f *featureMeans) near(ctx context.Context, bag int, out []float64) error {
	if err := f.read(ctx, bag); err != nil {
		return err
	}
	d := len(f.vector)
	for c := range out {
		sum := 0.
		for i, v := range f.vector {
			if math.IsNaN(v) {
				v = f.mean[i]
			}
			off := (v - f.classes[c*d+i]) * f.inverse[i]
			sum += off * off
		}
		if out[c] = -math.Sqrt(sum); f.bags[c] == 0 {
			out[c] = math.Inf(-1)
		}
	}
	return nil
}
