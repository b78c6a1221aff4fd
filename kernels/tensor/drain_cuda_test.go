//go:build cuda

package tensor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/emulator"
)

// Results come in their order, each as it was when it was begun, though the device works as late as it may and the
// tensor is overwritten at once.
func TestDrain_KeepsResultsApart(t *testing.T) {
	t.Setenv(emulator.LateVariable, "all")
	c := openCUDA(t)
	drain, err := c.NewDrain()
	expect.OK(t, err)
	from, err := c.Alloc(tensor.Float32, 5)
	expect.OK(t, err)
	begin := func(v float32, length int) {
		t.Helper()
		host := dense.New(dense.WithShape(5), dense.WithBacking(slices.Repeat([]float32{v}, 5)))
		part, err := from.Rows(0, length)
		expect.OK(t, errors.Join(err, c.Upload(from, host), drain.Begin(part)))
	}
	next := func(v float32, length int) {
		t.Helper()
		if got, err := drain.Next(); err != nil || !slices.Equal(got, slices.Repeat([]float32{v}, length)) {
			t.Errorf("got %v, %v, want %d times %g", got, err, length, v)
		}
	}
	bytes, err := c.Alloc(tensor.Uint8, 4)
	expect.OK(t, err)
	if err := drain.Begin(bytes); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a tensor of bytes: %v", err)
	}
	begin(1, 2)
	for n := range 6 { // the host is one result late, and results grow and shrink
		begin(float32(n+2), 1+n%5)
		if n == 0 {
			next(1, 2)
		} else {
			next(float32(n+1), 1+(n-1)%5)
		}
	}
	begin(9, 5)
	if err := drain.Begin(from); err == nil || !strings.Contains(err.Error(), "2 results") {
		t.Errorf("a third result on its way: %v", err)
	}
	if err := drain.Close(); err != nil { // with two on their way
		t.Error(err)
	}
	if _, err := drain.Next(); err == nil {
		t.Error("there is a result although none was begun")
	}
}
