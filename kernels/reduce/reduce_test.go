package reduce

import (
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/ranks"
	"nmn/ranks/local"
)

// each runs f for each rank of a group of n.
func each(t *testing.T, n int, f func(g ranks.Group)) {
	t.Helper()
	var all sync.WaitGroup
	for _, g := range local.New(n, time.Hour) {
		all.Go(func() { f(g) })
	}
	all.Wait()
}

// filled is a tensor whose elements depend on the rank.
func filled(t *testing.T, device tensor.Device, rank, length int) *tensor.Tensor {
	t.Helper()
	x, err := device.Alloc(tensor.Float32, length)
	expect.OK(t, err)
	values := make([]float32, length)
	for i := range values {
		values[i] = float32((i + 1) * (rank + 1) % 1000)
	}
	expect.OK(t, device.Upload(x, tensor.HostArray(tensor.Float32, values)))
	return x
}

func valuesOf(t *testing.T, device tensor.Device, x *tensor.Tensor) []float32 {
	t.Helper()
	values := make([]float32, x.Len())
	expect.OK(t, device.Download(tensor.HostArray(tensor.Float32, values), x))
	return values
}

// Small tensors, those summed in pieces and those between become the sums of all ranks, in any order of
// buckets, and step after step.
func TestHost_SumsAllTensors(t *testing.T) {
	lengths := [][]int{{3, smallest - 1}, {smallest, 1, 7}, {2*largest + 5}, {}}
	counts := []int{1, 2, 3}
	if testing.Short() {
		counts = counts[2:]
	}
	for _, size := range counts {
		each(t, size, func(g ranks.Group) {
			device := tensor.NewCPU(1, "test")
			defer device.Close()
			var buckets [][]*tensor.Tensor
			for _, bucket := range lengths {
				var tensors []*tensor.Tensor
				for _, n := range bucket {
					tensors = append(tensors, filled(t, device, g.Rank(), n))
				}
				buckets = append(buckets, tensors)
			}
			r, err := New(g, device, buckets, ranks.Float32)
			if err != nil {
				t.Error(err)
				return
			}
			for _, bucket := range []int{2, 0, 3, 1} {
				if err := r.Begin(bucket); err != nil {
					t.Error(err)
				}
			}
			if err := r.Wait(); err != nil {
				t.Error(err)
			}
			for _, bucket := range buckets {
				for _, x := range bucket {
					for i, v := range valuesOf(t, device, x) {
						want := 0
						for rank := range size {
							want += (i + 1) * (rank + 1) % 1000
						}
						if v != float32(want) {
							t.Errorf("element %d of %s is %v, want %d", i, x, v, want)
							return
						}
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHost_AllocatesNothingOnceItIsMade(t *testing.T) {
	device := tensor.NewCPU(1, "test")
	defer device.Close()
	r, err := New(ranks.Alone{}, device, [][]*tensor.Tensor{{filled(t, device, 0, 5), filled(t, device, 0, smallest)}},
		ranks.Float32)
	expect.OK(t, err)
	if n := testing.AllocsPerRun(20, func() {
		expect.OK(t, r.Begin(0))
		expect.OK(t, r.Wait())
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHost_RefusesWhatItHasNot(t *testing.T) {
	device := tensor.NewCPU(1, "test")
	defer device.Close()
	r, err := New(ranks.Alone{}, device, [][]*tensor.Tensor{{filled(t, device, 0, 5)}}, ranks.Float32)
	expect.OK(t, err)
	if err := r.Begin(1); err == nil {
		t.Error("a bucket that is not there begins")
	}
	expect.OK(t, r.Begin(0))
	if err := r.Begin(0); err == nil {
		t.Error("a bucket begins twice")
	}
	if err := r.Close(); err == nil {
		t.Error("closed while sums are under way")
	}
	numbers, err := device.Alloc(tensor.Int32, 3)
	expect.OK(t, err)
	if _, err := New(ranks.Alone{}, device, [][]*tensor.Tensor{{numbers}}, ranks.Float32); err == nil {
		t.Error("int32 are summed")
	}
}

func TestFold_ClosesBucketsBySize(t *testing.T) {
	for _, c := range []struct {
		sizes, ends []int
		bytes       int
	}{
		{nil, nil, 10},
		{[]int{1}, []int{1}, 10},
		{[]int{4, 4, 4, 100, 1, 1}, []int{3, 4, 6}, 10},
		{[]int{10, 0, 10}, []int{1, 3}, 10},
	} {
		if got := Fold(c.sizes, c.bytes); !slices.Equal(got, c.ends) {
			t.Errorf("Fold(%v) = %v, want %v", c.sizes, got, c.ends)
		}
	}
}

// summing is a device that sums by itself.
type summing struct {
	*tensor.CPU
	own Reducer
}

func (s summing) NewReducer(ranks.Group, [][]*tensor.Tensor, ranks.Wire) (Reducer, error) {
	return s.own, nil
}

func TestNew_AsksTheDeviceFirst(t *testing.T) {
	device := tensor.NewCPU(1, "test")
	defer device.Close()
	own := newHost(ranks.Alone{}, device, nil, ranks.Float32)
	for _, s := range []summing{{device, own}, {device, nil}} {
		r, err := New(ranks.Alone{}, s, nil, ranks.Float32)
		if err != nil || reflect.DeepEqual(r, nil) || s.own != nil && r != s.own {
			t.Errorf("%v, %v", r, err)
		}
	}
}
