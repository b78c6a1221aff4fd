package param

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// filter is a parameter of two filters of 3×1 cells over four channels, and a tensor of its state. Files hold
// three of the channels. W and the state count from 0 in the channels that files hold.
func filter(t *testing.T) (p *Param, state *tensor.Tensor, device *tensor.CPU) {
	t.Helper()
	device = tensor.NewCPU(1, "")
	t.Cleanup(func() { expect.OK(t, device.Close()) })
	p = &Param{Name: "conv.weight", File: "features.0.weight", Shape: []int{2, 3, 3, 1}, CHW: true}
	var err error
	p.W, err = device.Alloc(tensor.Float32, 2, 3, 1, 4)
	expect.OK(t, err)
	state, err = device.Alloc(tensor.Float32, 2, 3, 1, 4)
	expect.OK(t, err)
	expect.OK(t, p.SetValues(device, numbers(p.FileLen())))
	expect.OK(t, device.Copy(state, p.W))
	return p, state, device
}

func numbers(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	return values
}

// file writes tensors to memory and opens them.
func file(t *testing.T, tensors ...safetensors.Tensor) *safetensors.File {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, safetensors.Write(&b, nil, tensors))
	f, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	expect.OK(t, err)
	return f
}

func TestParam_FilesHaveChannelsBeforeCellsAndNoPadding(t *testing.T) {
	p, state, device := filter(t)
	f := file(t, append(Tensors(device, []*Param{p}), p.Tensor(device, "state", state))...)
	for _, name := range []string{"features.0.weight", "state"} {
		values, shape, err := f.Float32(name)
		expect.OK(t, err)
		want := []float32{0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 12, 15, 10, 13, 16, 11, 14, 17}
		if !slices.Equal(shape, []int{2, 3, 3, 1}) || !slices.Equal(values, want) {
			t.Errorf("%s is %v %v, want %v", name, shape, values, want)
		}
	}
	expect.OK(t, p.SetValues(device, make([]float32, p.FileLen())))
	expect.OK(t, p.Read(f, "state", device, p.W))
	if values, err := p.Values(device); err != nil || !slices.Equal(values, numbers(18)) {
		t.Errorf("read back: %v, %v", values, err)
	}
}

func TestRead_RefusesNumbersThatNoTrainingMakes(t *testing.T) {
	p, state, device := filter(t)
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1} {
		values := numbers(18)
		values[13] = bad
		f := file(t, safetensors.Tensor{Name: "x", Shape: p.Shape, Data: values})
		err := p.Read(f, "x", device, state)
		if finite := bad == -1; (err == nil) != finite {
			t.Errorf("%v: %v", bad, err)
		}
		err = p.ReadSquares(f, "x", device, state)
		if !errors.Is(err, ErrNumber) || !strings.Contains(err.Error(), "element 13 of x") {
			t.Errorf("%v as a mean of squares: %v", bad, err)
		}
	}
}

// Large parameters are read and written block by block.
func TestParam_BlocksAreTheWhole(t *testing.T) {
	device := tensor.NewCPU(1, "")
	t.Cleanup(func() { expect.OK(t, device.Close()) })
	p := &Param{Name: "bias", File: "bias", Shape: []int{2*blockLen + 7}, Bias: true}
	var err error
	p.W, err = device.Alloc(tensor.Float32, p.Shape...)
	expect.OK(t, err)
	want := numbers(p.FileLen())
	expect.OK(t, p.SetValues(device, want))
	f := file(t, p.Tensor(device, "bias", p.W))
	expect.OK(t, p.SetValues(device, make([]float32, p.FileLen())))
	expect.OK(t, p.Read(f, "bias", device, p.W))
	if got, err := p.Values(device); err != nil || !slices.Equal(got, want) {
		t.Errorf("a bias of %d numbers has come back changed: %v", len(want), err)
	}
}

func TestViews_KeepTheFirstError(t *testing.T) {
	device := tensor.NewCPU(1, "")
	t.Cleanup(func() { expect.OK(t, device.Close()) })
	x, err := device.Alloc(tensor.Float32, 4, 3)
	expect.OK(t, err)
	var v Views
	if got := v.Start(x, 5, 2); got == nil || got.Len() != 10 || v.Row(nil, 1) != nil || v.Err != nil {
		t.Errorf("%v, %v", got, v.Err)
	}
	if v.Rows(x, 0, 5); v.Err == nil || v.Shaped(x, 12) != nil {
		t.Errorf("after rows that are not there: %v", v.Err)
	}
}

// Convolutions read the copy in the device's number format if there is one.
func TestParam_FilterIsTheCopyWhereThereIsOne(t *testing.T) {
	p, _, _ := filter(t)
	w := p.W
	if got := p.Filter(); got != w {
		t.Error("without a copy the filter is not the parameter itself")
	}
	p.Copy = new(tensor.Tensor)
	if got := p.Filter(); got != p.Copy || p.W != w {
		t.Error("the filter is not the copy")
	}
}
