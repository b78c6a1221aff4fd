package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
)

func refused(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want ErrShape with %q", err, text)
	}
}

func TestElements_ProductOfDimensions(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  int
	}{{nil, 1}, {[]int{7}, 7}, {[]int{2, 3, 4}, 24}, {[]int{0, 5}, 0}, {[]int{5, 0}, 0}, {[]int{1 << 10, 1 << 20},
		1 << 30}} {
		if got, err := Elements(c.shape); err != nil || got != c.want {
			t.Errorf("%v: got %d, %v, want %d", c.shape, got, err, c.want)
		}
	}
}

func TestElements_RefusesWhatCannotBeHeld(t *testing.T) {
	for _, shape := range [][]int{{-1}, {3, -2}, {math.MaxInt, 2}, {math.MaxInt, math.MaxInt},
		{1 << 21, 1 << 20}, {0, -1}} {
		if _, err := Elements(shape); !errors.Is(err, ErrShape) {
			t.Errorf("%v: got %v", shape, err)
		}
	}
}

func TestFormat_WritesShapes(t *testing.T) {
	if got := Format([]int{8, 224, 224, 3}); got != "8×224×224×3" {
		t.Errorf("got %q", got)
	}
	if got := Format(nil); got != "scalar" {
		t.Errorf("got %q", got)
	}
	var none *Tensor
	if got := none.String(); got != "none" {
		t.Errorf("got %q", got)
	}
	v, err := OfUint8s(make([]uint8, 6), 2, 3)
	expect.OK(t, err)
	if got := v.String(); got != "uint8 2×3" {
		t.Errorf("got %q", got)
	}
	if got := DType(77).String(); got != "element type 77" {
		t.Errorf("got %q", got)
	}
}

func TestOf_RefusesDataOfAnotherLength(t *testing.T) {
	_, err := OfFloat32s(make([]float32, 5), 2, 3)
	refused(t, err, "5 elements for shape 2×3")
	_, err = OfInt32s(make([]int32, 7), 2, 3)
	refused(t, err, "7 elements")
	_, err = OfUint8s(nil, 1)
	refused(t, err, "0 elements")
}

func TestTensor_KeepsItsShapeWhenTheCallersSliceChanges(t *testing.T) {
	shape := []int{2, 3}
	v, err := OfFloat32s(make([]float32, 6), shape...)
	expect.OK(t, err)
	shape[0] = 99
	if v.Dim(0) != 2 || v.Dim(-1) != 3 || v.Rank() != 2 || v.Len() != 6 || v.Bytes() != 24 || v.DType() != Float32 {
		t.Errorf("got %v, %d elements, %d bytes", v, v.Len(), v.Bytes())
	}
}

func TestRows_ShareMemory(t *testing.T) {
	data := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	v, err := OfFloat32s(data, 4, 2)
	expect.OK(t, err)
	rows, err := v.Rows(1, 3)
	expect.OK(t, err)
	if !slices.Equal(rows.Shape(), []int{2, 2}) || !slices.Equal(rows.Float32s(), []float32{2, 3, 4, 5}) {
		t.Fatalf("got %v %v", rows, rows.Float32s())
	}
	rows.Float32s()[0] = 50
	if data[2] != 50 || cap(rows.Float32s()) != 4 {
		t.Errorf("the view does not share memory, or reaches beyond its rows: %v, capacity %d", data, cap(rows.Float32s()))
	}
	empty, err := v.Rows(4, 4)
	expect.OK(t, err)
	if empty.Len() != 0 || empty.Dim(0) != 0 {
		t.Errorf("got %v", empty)
	}
	for _, r := range [][2]int{{-1, 2}, {3, 2}, {0, 5}} {
		_, err := v.Rows(r[0], r[1])
		refused(t, err, "of 4×2")
	}
	scalar, err := OfFloat32s(data[:1])
	expect.OK(t, err)
	_, err = scalar.Rows(0, 1)
	refused(t, err, "scalar")
}

func TestRows_OfEveryElementType(t *testing.T) {
	whole, err := OfInt32s([]int32{1, 2, 3}, 3)
	expect.OK(t, err)
	bytes, err := OfUint8s([]uint8{1, 2, 3}, 3)
	expect.OK(t, err)
	remote, err := OfAddress(1000, BFloat16, 3, 5)
	expect.OK(t, err)
	halves, err := OfBFloat16s([]uint16{1, 2, 3}, 3)
	expect.OK(t, err)
	a, errA := whole.Rows(1, 2)
	b, errB := bytes.Rows(2, 3)
	c, errC := remote.Rows(2, 3)
	d, errD := halves.Rows(0, 1)
	expect.OK(t, errors.Join(errA, errB, errC, errD))
	if !slices.Equal(a.Int32s(), []int32{2}) || !slices.Equal(b.Uint8s(), []uint8{3}) || c.Address() != 1000+2*5*2 ||
		c.Bytes() != 10 || !slices.Equal(d.BFloat16s(), []uint16{1}) {
		t.Errorf("got %v, %v, %d of %d bytes, %v", a.Int32s(), b.Uint8s(), c.Address(), c.Bytes(), d.BFloat16s())
	}
	if a.Float32s() != nil || b.Int32s() != nil || c.Uint8s() != nil || d.Address() != 0 || a.Address() != 0 {
		t.Error("a view has memory of another type")
	}
}

func TestReshape_ViewsAllElements(t *testing.T) {
	v, err := OfFloat32s([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	expect.OK(t, err)
	w, err := v.Reshape(3, 1, 2)
	expect.OK(t, err)
	w.Float32s()[5] = 60
	if v.Float32s()[5] != 60 || w.Rank() != 3 || v.Rank() != 2 || SameShape(v, w) {
		t.Errorf("got %v of %v", w, v)
	}
	_, err = v.Reshape(4, 2)
	refused(t, err, "view 2×3 as 4×2")
	_, err = v.Reshape(-2, -3)
	refused(t, err, "negative")
}

func TestSameShape_ComparesDimensions(t *testing.T) {
	of := func(shape ...int) *Tensor { v, err := OfAddress(8, Float32, shape...); expect.OK(t, err); return v }
	if !SameShape(of(2, 3), of(2, 3)) || SameShape(of(2, 3), of(3, 2)) || SameShape(of(6), of(6, 1)) {
		t.Error("wrong")
	}
}

func TestCPU_AllocIsZeroedAndTyped(t *testing.T) {
	dev := NewCPU(1, "generic")
	for _, d := range []DType{Float32, Int32, Uint8, BFloat16} {
		v, err := dev.Alloc(d, 2, 3)
		expect.OK(t, err)
		if held := len(v.Float32s()) + len(v.Int32s()) + len(v.Uint8s()) + len(v.BFloat16s()); v.DType() != d ||
			v.Bytes() != 6*d.Size() || held != 6 {
			t.Errorf("%v: got %v", d, v)
		}
	}
	if dev.Name() != "cpu generic, 1 threads" {
		t.Errorf("got %q", dev.Name())
	}
	dev.LinearWeights = BFloat16
	if dev.Name() != "cpu generic, 1 threads, bf16" || dev.Precision() != BF16 {
		t.Errorf("got %q of precision %s", dev.Name(), dev.Precision())
	}
	_, err := dev.Alloc(Float32, 1, -1)
	refused(t, err, "negative")
	expect.OK(t, dev.Sync())
	expect.OK(t, dev.Close())
	expect.OK(t, dev.Close())
	if _, err := dev.Alloc(Float32, 1); err == nil {
		t.Error("a closed device gives memory")
	}
}

func TestCPU_CopiesToAndFromTheHost(t *testing.T) {
	dev := NewCPU(1, "generic")
	defer dev.Close()
	for _, src := range []*dense.Dense{
		dense.New(dense.WithShape(2, 3), dense.WithBacking([]float32{1, 2, 3, 4, 5, 6})),
		dense.New(dense.WithShape(3), dense.WithBacking([]int32{7, 8, 9})),
		dense.New(dense.WithShape(2, 1), dense.WithBacking([]uint8{10, 11})),
		dense.New(dense.WithShape(2), dense.WithBacking([]uint16{12, 13})),
	} {
		dtype := map[dense.Dtype]DType{dense.Float32: Float32, dense.Int32: Int32, dense.Uint8: Uint8,
			dense.Uint16: BFloat16}[src.Dtype()]
		v, err := dev.Alloc(dtype, src.DataSize())
		expect.OK(t, err)
		expect.OK(t, dev.Upload(v, src))
		back := dense.New(dense.WithShape(src.Shape()...), dense.Of(src.Dtype()))
		expect.OK(t, dev.Download(back, v))
		if !back.Eq(src) {
			t.Errorf("got %v, want %v", back, src)
		}
		short, err := dev.Alloc(dtype, src.DataSize()-1)
		expect.OK(t, err)
		refused(t, dev.Upload(short, src), "upload")
		refused(t, dev.Download(src, short), "download")
		other, err := dev.Alloc((dtype+1)%3, src.DataSize())
		expect.OK(t, err)
		refused(t, dev.Upload(other, src), "upload")
		refused(t, dev.Download(src, other), "download")
	}
}

func TestCPU_RefusesHostViewsWithStrides(t *testing.T) {
	dev := NewCPU(1, "generic")
	defer dev.Close()
	host := dense.New(dense.WithShape(2, 3), dense.WithBacking([]float32{1, 2, 3, 4, 5, 6}))
	v, err := dev.Alloc(Float32, 2, 3)
	expect.OK(t, err)
	expect.OK(t, host.T())
	refused(t, dev.Upload(v, host), "row-major")
	refused(t, dev.Download(host, v), "row-major")
	expect.OK(t, host.Transpose())
	expect.OK(t, dev.Upload(v, host))
	if !slices.Equal(v.Float32s(), []float32{1, 4, 2, 5, 3, 6}) {
		t.Errorf("got %v", v.Float32s())
	}
}

func TestArena_CountsAndFrees(t *testing.T) {
	dev := NewCPU(1, "generic")
	defer dev.Close()
	a := NewArena(dev)
	v, err := a.Alloc(Float32, 10)
	expect.OK(t, err)
	_, err = a.Alloc(Uint8, 3)
	expect.OK(t, err)
	if _, err := a.Alloc(Float32, -1); err == nil || a.Bytes() != 43 {
		t.Errorf("%d bytes, want 43; %v", a.Bytes(), err)
	}
	expect.OK(t, a.Close())
	expect.OK(t, a.Close())
	if a.Bytes() != 0 || v.Float32s() != nil {
		t.Errorf("%d bytes and %d elements after Close", a.Bytes(), len(v.Float32s()))
	}
}
