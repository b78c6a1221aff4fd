package conform

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	"nmn/kernels"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/ranks"
	"nmn/ranks/local"
	"nmn/tools/ref"
)

// reduceBuckets are the lengths of the tensors in each bucket: none, empty ones, small ones that are packed together,
// as large as that ends, of several chunks, and not of whole groups of elements.
var reduceBuckets = [][]int{{3, 100, 1<<14 + 5, 0}, {1 << 15}, {}, {1, 1<<14 - 1, 8, 1 << 14, 16}}

// RunReduce judges the sums of tensors of a kind of device over 1 to 4 ranks, goroutines with a device each,
// in float32 and in bfloat16. The numbers are written and read on the device, so that a missing wait shows.
func RunReduce(t *testing.T, open func(t testing.TB) kernels.Backend) {
	t.Helper()
	for _, wire := range []ranks.Wire{ranks.Float32, ranks.BFloat16} {
		for size := 1; size <= 4; size++ {
			t.Run(fmt.Sprintf("wire %d/%d ranks", wire, size), func(t *testing.T) {
				results := make([][][]float32, size)
				EachRank(t, size, open, func(g ranks.Group, b kernels.Backend) (err error) {
					results[g.Rank()], err = reduceTwice(g, b, wire)
					return err
				})
				for rank, theirs := range results {
					if !reflect.DeepEqual(theirs, results[0]) {
						t.Errorf("ranks 0 and %d have other bits", rank)
					}
				}
			})
		}
	}
}

// EachRank runs f for each of some ranks, goroutines with a device each, and reports their errors. A rank that fails
// ends the group.
func EachRank(t *testing.T, size int, open func(t testing.TB) kernels.Backend,
	f func(ranks.Group, kernels.Backend) error) {
	t.Helper()
	errs := make([]error, size)
	backends := make([]kernels.Backend, size)
	for i := range backends {
		backends[i] = open(t)
	}
	var all sync.WaitGroup
	for _, g := range local.New(size, 10*time.Minute) {
		all.Go(func() {
			if errs[g.Rank()] = f(g, backends[g.Rank()]); errs[g.Rank()] != nil {
				g.Abort(errs[g.Rank()])
			}
		})
	}
	all.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// given is element i of a tensor of a rank, of both signs and of several magnitudes.
func given(rank, tensor, i int) float32 {
	h := uint32(i)*2654435761 + uint32(rank)*40503 + uint32(tensor)*97
	h ^= h >> 15
	h *= 2246822519
	h ^= h >> 13
	return float32(int32(h)) / (1 << 31) * float32(int(1)<<(h%12))
}

// overRanks is a tensor that is summed, with the tensor copied into it before and the tensor copied from it
// after.
type overRanks struct{ from, x, to *tensor.Tensor }

// reduceTwice sums all buckets in one order and again in the other, and returns the results.
func reduceTwice(g ranks.Group, b kernels.Backend, wire ranks.Wire) (results [][]float32, err error) {
	buckets, tensors := make([][]*tensor.Tensor, len(reduceBuckets)), make([][]overRanks, len(reduceBuckets))
	number := 0
	for i, lengths := range reduceBuckets {
		for _, n := range lengths {
			s, err := newSummed(b, g.Rank(), number, n)
			if err != nil {
				return nil, err
			}
			buckets[i], tensors[i] = append(buckets[i], s.x), append(tensors[i], s)
			number++
		}
	}
	r, err := reduce.New(g, b, buckets, wire)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, backwards := range []bool{false, true} {
		for i := range buckets {
			if backwards {
				i = len(buckets) - 1 - i
			}
			if err := beginSummed(b, r, i, tensors[i]); err != nil {
				return nil, err
			}
		}
		if err := r.Wait(); err != nil {
			return nil, err
		}
		all, err := takeSummed(g, b, wire, tensors)
		if err != nil {
			return nil, err
		}
		results = append(results, all...)
	}
	return results, nil
}

func newSummed(b kernels.Backend, rank, number, length int) (s overRanks, err error) {
	for _, t := range []**tensor.Tensor{&s.from, &s.x, &s.to} {
		if *t, err = b.Alloc(tensor.Float32, length); err != nil {
			return s, err
		}
	}
	if length == 0 {
		return s, nil
	}
	values := make([]float32, length)
	for i := range values {
		values[i] = given(rank, number, i)
	}
	return s, b.Upload(s.from, host(values))
}

// beginSummed writes the tensors of a bucket and begins their sums.
func beginSummed(b kernels.Backend, r reduce.Reducer, bucket int, tensors []overRanks) error {
	for _, s := range tensors {
		if s.x.Len() == 0 {
			continue
		}
		if err := b.Copy(s.x, s.from); err != nil {
			return err
		}
	}
	return r.Begin(bucket)
}

// takeSummed copies the sums, overwrites them, and holds the copies to the reference.
func takeSummed(g ranks.Group, b kernels.Backend, wire ranks.Wire, tensors [][]overRanks) (results [][]float32,
	err error) {
	number := -1
	for _, bucket := range tensors {
		for _, s := range bucket {
			number++
			if s.x.Len() == 0 {
				continue
			}
			if err := errors.Join(b.Copy(s.to, s.x), b.Zero(s.x)); err != nil {
				return nil, err
			}
			got := make([]float32, s.x.Len())
			if err := b.Download(host(got), s.to); err != nil {
				return nil, err
			}
			if err := judgeSum(g.Size(), number, wire, got); err != nil {
				return nil, err
			}
			results = append(results, got)
		}
	}
	return results, nil
}

// judgeSum compares a sum with the reference. In bfloat16 a card also rounds partial sums, one for each rank.
func judgeSum(size, number int, wire ranks.Wire, got []float32) error {
	round, tolerance := ref.BFloat16, float64(size)/256
	if wire == ranks.Float32 {
		round, tolerance = nil, 1e-6
	} else if size == 1 { // nothing travels, or it is rounded nevertheless
		round = nil
	}
	of := sumOf{size: size, tensor: number, length: len(got), rounded: round != nil}
	reference, _ := sumsWanted.LoadOrStore(of, sync.OnceValues(func() (want, magnitudes []float64) {
		all := make([][]float64, size)
		for rank := range all {
			for i := range of.length {
				all[rank] = append(all[rank], float64(given(rank, number, i)))
			}
		}
		return ref.SumOverRanks(all, round)
	}))
	want, magnitudes := reference.(func() ([]float64, []float64))()
	for i, x := range got {
		if d := math.Abs(float64(x) - want[i]); !(d <= tolerance*magnitudes[i]) {
			return fmt.Errorf("tensor %d of %d elements: element %d is %v, want %v", number, len(got), i, x, want[i])
		}
		if round != nil && round(float64(x)) != float64(x) {
			return fmt.Errorf("tensor %d: element %d, %v, is not in bfloat16", number, i, x)
		}
	}
	return nil
}

// sumsWanted holds results of the reference, by sumOf: all ranks want equal ones.
var sumsWanted sync.Map

type sumOf struct {
	size, tensor, length int
	rounded              bool
}
