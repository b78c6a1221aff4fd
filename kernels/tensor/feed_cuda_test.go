//go:build cuda

package tensor_test

import (
	"errors"
	"slices"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/emulator"
)

// feedStep stages an array in memory of the feed, changes it at once or after Wait, and returns the values
// that a tensor receives.
func feedStep(t *testing.T, c *tensor.CUDA, feed *tensor.Feed, waits bool) []uint8 {
	t.Helper()
	memory, err := feed.Alloc(8)
	expect.OK(t, err)
	to, err := c.Alloc(tensor.Uint8, 8)
	expect.OK(t, err)
	fill := func(v uint8) {
		for i := range memory {
			memory[i] = v
		}
	}
	fill(1)
	array := dense.New(dense.WithShape(8), dense.WithBacking(memory))
	expect.OK(t, feed.Stage([]*dense.Dense{array}))
	if waits {
		expect.OK(t, feed.Wait())
	}
	fill(2)
	got := dense.New(dense.Of(dense.Uint8), dense.WithShape(8))
	expect.OK(t, errors.Join(feed.Take([]*tensor.Tensor{to}), c.Download(got, to), feed.Free(memory),
		c.Free(to)))
	if err := feed.Free(memory); err == nil {
		t.Error("memory is freed twice")
	}
	return got.Uint8s()
}

// The device reads memory of the feed in place, as late as it may, and has read it when Wait returns.
func TestFeed_ReadsItsOwnMemoryWithoutACopy(t *testing.T) {
	t.Setenv(emulator.LateVariable, "all")
	c := openCUDA(t)
	feed, err := c.NewFeed()
	expect.OK(t, err)
	if got := feedStep(t, c, feed, true); !slices.Equal(got, slices.Repeat([]uint8{1}, 8)) {
		t.Errorf("%v arrived of memory that was changed after Wait", got)
	}
	if got := feedStep(t, c, feed, false); !slices.Equal(got, slices.Repeat([]uint8{2}, 8)) {
		t.Errorf("%v arrived of memory that was changed before the device has read it: it was copied aside", got)
	}
	if _, err := feed.Alloc(100); err != nil {
		t.Fatal(err)
	}
	if err := feed.Close(); err != nil { // also frees memory that was not freed
		t.Error(err)
	}
}
