//go:build cuda

package tensor_test

import (
	"errors"
	"reflect"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/cuda"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/emulator"
)

// The one device of these tests: the driver is opened once for the process.
func openCUDA(t *testing.T) *tensor.CUDA {
	t.Helper()
	library, err := emulator.Build(t.TempDir())
	if errors.Is(err, emulator.ErrCompiler) {
		t.Skipf("device memory was not tested: %v", err)
	}
	expect.OK(t, err)
	t.Setenv(cuda.DriverVariable, library)
	c, err := tensor.NewCUDA(0, cuda.Options{}, tensor.Auto)
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestCUDA_Memory(t *testing.T) {
	c := openCUDA(t)
	for _, want := range []*dense.Dense{
		dense.New(dense.WithShape(2, 3), dense.WithBacking([]float32{1, -2, 3.5, 0, 5, 6})),
		dense.New(dense.WithShape(2, 3), dense.WithBacking([]int32{1, -2, 3, 0, 5, 6})),
		dense.New(dense.WithShape(2, 3), dense.WithBacking([]uint8{1, 2, 3, 0, 5, 255})),
		dense.New(dense.WithShape(2, 3), dense.WithBacking([]uint16{1, 2, 3, 0, 5, 65535})),
	} {
		dtype := map[dense.Dtype]tensor.DType{
			dense.Float32: tensor.Float32, dense.Int32: tensor.Int32, dense.Uint8: tensor.Uint8, dense.Uint16: tensor.BFloat16,
		}[want.Dtype()]
		on, err := c.Alloc(dtype, 2, 3)
		expect.OK(t, err)
		got := dense.New(dense.Of(want.Dtype()), dense.WithShape(2, 3))
		zero := got.Clone().(*dense.Dense)
		if err := c.Upload(on, want); err != nil {
			t.Error(err)
		}
		if err := c.Download(got, on); err != nil || !reflect.DeepEqual(got.Data(), want.Data()) {
			t.Errorf("%v: there and back is %v, %v, want %v", dtype, got.Data(), err, want.Data())
		}
		copied, err := c.Alloc(dtype, 6)
		if err := errors.Join(err, c.Copy(copied, on), c.Download(got, copied)); err != nil || !reflect.DeepEqual(got.Data(),
			want.Data()) {
			t.Errorf("%v: the copy is %v, %v, want %v", dtype, got.Data(), err, want.Data())
		}
		fresh, err := c.Alloc(dtype, 2, 3)
		expect.OK(t, err)
		if err := c.Download(got, fresh); err != nil || !reflect.DeepEqual(got.Data(), zero.Data()) {
			t.Errorf("%v: fresh memory is %v, %v", dtype, got.Data(), err)
		}
		if err := errors.Join(c.Free(on), c.Free(copied), c.Free(fresh), c.Sync()); err != nil {
			t.Error(err)
		}
	}
	if held := c.Device.Held(); held != 0 {
		t.Errorf("%d bytes are held after all was freed", held)
	}
}

func TestCUDA_RefusesWhatDoesNotFit(t *testing.T) {
	c := openCUDA(t)
	on, err := c.Alloc(tensor.Float32, 2, 3)
	expect.OK(t, err)
	host, err := tensor.OfFloat32s(make([]float32, 6), 2, 3)
	expect.OK(t, err)
	whole := dense.New(dense.WithShape(3, 3), dense.Of(dense.Float32))
	column, err := whole.Slice(nil, dense.S(1))
	expect.OK(t, err)
	six := dense.New(dense.WithShape(2, 3), dense.Of(dense.Float32))
	for name, err := range map[string]error{
		"too many elements": c.Upload(on, whole),
		"another type":      c.Upload(on, dense.New(dense.WithShape(2, 3), dense.Of(dense.Int32))),
		"a view with gaps":  c.Upload(on, column.(*dense.Dense)),
		"host memory":       c.Download(six, host),
		"copy from host":    c.Copy(on, host),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: error %v, want ErrShape", name, err)
		}
	}
	if _, err := c.Alloc(tensor.Float32, 1<<20, 1<<19); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("2 TiB: error %v, want ErrOutOfMemory", err)
	}
	if _, err := c.Alloc(tensor.Float32, -1); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("-1 elements: error %v, want ErrShape", err)
	}
}
