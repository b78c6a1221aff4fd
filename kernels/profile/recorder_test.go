package profile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/profile"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
	"nmn/tools/conform"
)

// rig is a recorder with a convolution, a pool and a parameter.
type rig struct {
	*profile.Recorder
	x, w, b, y, pooled, dw *tensor.Tensor
}

func newRig(t *testing.T) rig {
	t.Helper()
	r := rig{Recorder: profile.New(conform.OpenCPU(t, 1))}
	for _, a := range []struct {
		to    **tensor.Tensor
		shape []int
	}{{&r.x, []int{2, 6, 6, 3}}, {&r.w, []int{4, 3, 3, 3}}, {&r.b, []int{4}}, {&r.y, []int{2, 6, 6, 4}},
		{&r.pooled, []int{2, 3, 3, 4}}, {&r.dw, []int{4, 3, 3, 3}}} {
		var err error
		*a.to, err = r.Alloc(tensor.Float32, a.shape...)
		expect.OK(t, err)
		for i := range (*a.to).Float32s() {
			(*a.to).Float32s()[i] = float32(i%7) - 2
		}
	}
	r.Label(r.w, "conv1")
	r.Label(r.dw, "conv1")
	return r
}

func (r rig) step(t *testing.T) {
	t.Helper()
	expect.OK(t, r.Begin())
	expect.OK(t, r.Conv(r.y, r.x, r.w, r.b, conv.Params{Pad: 1, ReLU: true}))
	expect.OK(t, r.MaxPool(r.pooled, r.y))
	expect.OK(t, r.ConvGradFilter(r.dw, r.x, r.y, conv.Params{Pad: 1, Accumulate: true}))
	expect.OK(t, r.SGD([]update.Entry{{W: r.w, G: r.dw, M: r.dw, LR: 1e-9}}, 0))
	expect.OK(t, r.End())
}

func TestRecorder_TellsLayersWorkAndBytes(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.step(t)
	}
	flop := float64(2 * 2 * 6 * 6 * 3 * 3 * 3 * 4)
	want := []profile.Op{
		{Layer: "conv1", Name: "forward", Shape: "2×6×6×3 * 4×3×3×3", FLOP: flop, Bytes: 4 * (216 + 108 + 4 + 288)},
		{Layer: "pool1", Name: "max pool", Shape: "2×6×6×4", Bytes: 4 * (288 + 72)},
		{Layer: "conv1", Name: "filter gradient", Shape: "2×6×6×3 * 4×3×3×3", FLOP: flop, Bytes: 4 * (216 + 108 + 108 + 288)},
		{Layer: "all", Name: "sgd", Shape: "108", Bytes: 4 * 5 * 108},
	}
	ops := r.Ops()
	if len(ops) != len(want) {
		t.Fatalf("%d operations, want %d: %v", len(ops), len(want), ops)
	}
	for i, o := range ops {
		if len(o.Times) != 3 || o.Median() <= 0 {
			t.Errorf("%v: times %v", &o, o.Times)
		}
		if (o.Algorithm != "") != (o.FLOP > 0) {
			t.Errorf("%v: algorithm %q", &o, o.Algorithm)
		}
		got := profile.Op{Layer: o.Layer, Name: o.Name, Shape: o.Shape, FLOP: o.FLOP, Bytes: o.Bytes}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
}

func TestRecorder_ComputesWhatTheBackendDoes(t *testing.T) {
	r := newRig(t)
	r.step(t)
	plain := newRig(t)
	expect.OK(t, plain.Conv(plain.y, plain.x, plain.w, plain.b, conv.Params{Pad: 1, ReLU: true}))
	if !reflect.DeepEqual(r.y.Float32s(), plain.y.Float32s()) {
		t.Error("recording changes the result")
	}
	if len(plain.Ops()) != 0 {
		t.Error("operations outside of a step are recorded")
	}
}

func TestRecorder_RefusesAnotherStep(t *testing.T) {
	r := newRig(t)
	r.step(t)
	expect.OK(t, r.Begin())
	expect.OK(t, r.MaxPool(r.pooled, r.y))
	if err := r.End(); err == nil || !strings.Contains(err.Error(), "1 operations after one of 4") {
		t.Errorf("a shorter step: %v", err)
	}
	expect.OK(t, r.Begin())
	for range 4 {
		expect.OK(t, r.MaxPool(r.pooled, r.y))
	}
	if err := r.End(); err == nil || !strings.Contains(err.Error(),
		"operation 1 is max pool of pool1, 2×6×6×4, in the first step it was forward of conv1") {
		t.Errorf("another step: %v", err)
	}
}

func TestRecorder_PassesErrorsOn(t *testing.T) {
	r := newRig(t)
	expect.OK(t, r.Begin())
	if err := r.Conv(r.y, r.x, r.b, nil, conv.Params{}); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a filter that does not fit: %v", err)
	}
	expect.OK(t, r.End())
	if len(r.Ops()) != 0 {
		t.Error("an operation that failed is recorded")
	}
}

func TestRecorder_KnowsTheLayerOfADropoutGradient(t *testing.T) {
	r := newRig(t)
	keys, err := r.Alloc(tensor.Int32, 2)
	expect.OK(t, err)
	seed, err := r.Alloc(tensor.Int32, 2)
	expect.OK(t, err)
	expect.OK(t, r.Begin())
	expect.OK(t, r.Conv(r.y, r.x, r.w, r.b, conv.Params{Pad: 1}))
	expect.OK(t, r.Dropout(r.y, r.y, keys, seed, .5))
	expect.OK(t, r.DropoutGrad(r.y, r.y, keys, seed, .5))
	expect.OK(t, r.End())
	for _, o := range r.Ops()[1:] {
		if o.Layer != "conv1" {
			t.Errorf("%s of %q", o.Name, o.Layer)
		}
	}
}

// tick is a backend on whose clock every operation takes a second.
type tick struct {
	kernels.Backend
	kernels.Card // nil: only the clock is used
	marks        []int
}

func (c *tick) Mark(number int) error {
	c.marks = append(c.marks, number)
	return nil
}

func (c *tick) Between(first, last int) (time.Duration, error) {
	return time.Duration(last-first) * time.Second, nil
}

func TestRecorder_TakesTheTimeOfTheDevice(t *testing.T) {
	r := newRig(t)
	device := &tick{Backend: r.Recorder}
	r.Recorder = profile.New(device)
	r.step(t)
	if want := []int{0, 1, 2, 3, 4}; !reflect.DeepEqual(device.marks, want) {
		t.Errorf("marks %v, want %v", device.marks, want)
	}
	for _, o := range r.Ops() {
		if o.Median() != time.Second {
			t.Errorf("%v takes %v", &o, o.Median())
		}
	}
}

// idle computes nothing.
type idle struct{ kernels.Backend }

func (idle) Sync() error                                                        { return nil }
func (idle) Conv(_, _, _, _ *tensor.Tensor, _ conv.Params) error                { return nil }
func (idle) Linear(_, _, _, _ *tensor.Tensor, _ transformer.LinearParams) error { return nil }

// A step in bfloat16 has products of float32 too. They have another rate.
func TestRecorder_KeepsTheTypeOfProducts(t *testing.T) {
	r := profile.New(idle{})
	expect.OK(t, r.Begin())
	types := []tensor.DType{tensor.BFloat16, tensor.Float32}
	for i, dtype := range types {
		at := func(dtype tensor.DType, dims ...int) *tensor.Tensor {
			x, err := tensor.OfAddress(uintptr(16*i+16), dtype, dims...)
			expect.OK(t, err)
			return x
		}
		w, y := at(dtype, 4, 1, 1, 3), at(tensor.Float32, 2, 1, 1, 4)
		expect.OK(t, r.Conv(y, at(dtype, 2, 1, 1, 3), w, nil, conv.Params{}))
		expect.OK(t, r.Linear(y, at(dtype, 2, 3), at(dtype, 4, 3), nil, transformer.LinearParams{}))
	}
	expect.OK(t, r.End())
	for i, o := range r.Ops() {
		if o.FLOP != 2*2*3*4 || o.Factors != types[i/2] {
			t.Errorf("%v: %v FLOP of %v, want %v", &o, o.FLOP, o.Factors, types[i/2])
		}
	}
}
