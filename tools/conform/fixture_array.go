package conform

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/kernels/tensor"
)

// Tolerance accepts a value when |got - want| <= Atol + Rtol·|want|.
type Tolerance struct {
	Rtol, Atol float64
	// StrictAtol, if the fixture has one, replaces Atol for forms that do not cancel, such as this project's.
	StrictAtol *float64 `json:"strict_atol"`
}

// Bound is the largest accepted difference from a wanted value.
func (t Tolerance) Bound(want float64) float64 {
	if t.StrictAtol != nil {
		return *t.StrictAtol + t.Rtol*math.Abs(want)
	}
	return t.Atol + t.Rtol*math.Abs(want)
}

// Array is a tensor of a fixture, row-major, as stored: images N×C×H×W, filters K×C×R×S, transitions
// [observed][true][class]. Undefined values are NaN.
type Array struct {
	Name      string // path in the fixture
	Shape     []int  // empty for a scalar
	Data      []float64
	Tolerance *Tolerance // nil for inputs
	exact     bool       // integers
}

// Input returns inputs.NAME and ends the test when it is missing.
func (f *Fixture) Input(name string) Array { f.t.Helper(); return f.array("inputs." + name) }

// Expected returns expected.NAME and ends the test when it is missing. Groups are joined by dots.
func (f *Fixture) Expected(name string) Array { f.t.Helper(); return f.array("expected." + name) }

// Has reports whether a path, for example "expected.d_X", holds a tensor or a number.
func (f *Fixture) Has(path string) bool { _, ok := f.arrays[path]; return ok }

func (f *Fixture) array(path string) Array {
	f.t.Helper()
	a, ok := f.arrays[path]
	if !ok {
		f.t.Fatalf("fixture %q has no %s", f.Name, path)
	}
	return a
}

// Group returns the sorted names, without prefix, of all tensors and numbers below a path: for
// "inputs.params" the parameters, for "expected.grads" those with a gradient.
func (f *Fixture) Group(path string) []string {
	var names []string
	for name := range f.arrays {
		if rest, ok := strings.CutPrefix(name, path+"."); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names
}

// Subgroups returns the sorted first parts of the names below a path, for example odd, even and ties
// below "inputs".
func (f *Fixture) Subgroups(path string) []string {
	var groups []string
	for _, name := range f.Group(path) {
		group, _, _ := strings.Cut(name, ".")
		groups = append(groups, group)
	}
	return slices.Compact(groups)
}

// Rows returns a table that is stored as a list of lists. null is NaN.
func (f *Fixture) Rows(path string) [][]float64 {
	f.t.Helper()
	list, ok := f.others[path].([]any)
	if !ok {
		f.t.Fatalf("fixture %q has no table %s", f.Name, path)
	}
	rows := make([][]float64, len(list))
	for i, row := range list {
		cells, _ := row.([]any)
		for _, cell := range cells {
			value, ok := cell.(float64)
			if !ok {
				value = math.NaN()
			}
			rows[i] = append(rows[i], value)
		}
	}
	return rows
}

// Scalar is the only value of an array.
func (a Array) Scalar() float64 { return a.Data[0] }

// NHWC moves the channels of an image or a filter last: K×C×R×S becomes K×R×S×C. Arrays of another rank are
// returned unchanged.
func (a Array) NHWC() Array {
	if len(a.Shape) != 4 {
		return a
	}
	n, c, h, w := a.Shape[0], a.Shape[1], a.Shape[2], a.Shape[3]
	out := a
	out.Shape, out.Data = []int{n, h, w, c}, make([]float64, len(a.Data))
	for i, v := range a.Data {
		column, row, channel, image := i%w, i/w%h, i/(w*h)%c, i/(w*h*c)
		out.Data[((image*h+row)*w+column)*c+channel] = v
	}
	return out
}

// Parameter returns the value, gradient or moment of a network parameter in the layout of the
// product: filters (NAME.w) K×R×S×C, biases K, nmn.U and nmn.b as stored, [observed][true][class] with
// the features last, so that U is also a filter of 4K×1×1×F.
func (f *Fixture) Parameter(group, name string) Array {
	f.t.Helper()
	a := f.array(group + "." + name)
	if strings.HasPrefix(name, "nmn.") {
		return a
	}
	return a.NHWC()
}

// Float32s returns the data in float32.
func (a Array) Float32s() []float32 {
	return wideToFloat(a.Data)
}

// Int32s returns the data in int32.
func (a Array) Int32s() []int32 {
	out := make([]int32, len(a.Data))
	for i, v := range a.Data {
		out[i] = int32(v)
	}
	return out
}

// Upload copies the array to a new tensor of a device: int32 for integers, else float32. A shape
// given replaces the array's own.
func (a Array) Upload(t testing.TB, device tensor.Device, shape ...int) *tensor.Tensor {
	t.Helper()
	if len(shape) == 0 {
		shape = a.Shape
	}
	dtype, data := tensor.Float32, host(a.Float32s())
	if a.exact {
		dtype, data = tensor.Int32, host(a.Int32s())
	}
	x, err := device.Alloc(dtype, shape...)
	if err == nil {
		err = device.Upload(x, data)
	}
	if err != nil {
		t.Fatalf("upload %s: %v", a.Name, err)
	}
	return x
}

// Download returns the elements of a tensor of floats.
func Download(t testing.TB, device tensor.Device, x *tensor.Tensor) []float32 {
	t.Helper()
	out, half := make([]float32, x.Len()), []uint16(nil)
	data := host(out)
	if x.DType() == tensor.BFloat16 {
		half = make([]uint16, x.Len())
		data = host(half)
	}
	if err := device.Download(data, x); err != nil {
		t.Fatalf("download: %v", err)
	}
	if half != nil {
		tensor.WidenBFloat16(out, half)
	}
	return out
}

// Check reports every array whose values differ from the expected ones by more than the fixture's
// tolerance, with the worst element. Undefined expected values accept anything.
func (a Array) Check(t testing.TB, got []float32) {
	t.Helper()
	if err := a.compare(got); err != nil {
		t.Error(err)
	}
}

func (a Array) compare(got []float32) error {
	if a.Tolerance == nil && !a.exact {
		return fmt.Errorf("%s: the fixture has no tolerance for it", a.Name)
	}
	if len(got) != len(a.Data) {
		return fmt.Errorf("%s: %d values, want %d of shape %v", a.Name, len(got), len(a.Data), a.Shape)
	}
	tolerance := Tolerance{}
	if a.Tolerance != nil && !a.exact {
		tolerance = *a.Tolerance
	}
	wrong, worst, excess := 0, 0, -1.0
	for i, want := range a.Data {
		off := math.Abs(float64(got[i]) - want)
		if math.IsNaN(want) || off <= tolerance.Bound(want) {
			continue
		}
		wrong++
		e := off / tolerance.Bound(want)
		if math.IsNaN(e) { // a NaN is the worst
			e = math.Inf(1)
		}
		if e > excess {
			worst, excess = i, e
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%s %v: %d of %d values are off, worst is element %d: %v, want %v within %.3g",
			a.Name, a.Shape, wrong, len(got), worst, got[worst], a.Data[worst], tolerance.Bound(a.Data[worst]))
	}
	return nil
}
