package conform

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// Case is one call of one operation with its expected results.
type Case struct {
	Op    string // method of kernels.Backend
	Name  string // parameters as key=value parts; unique together with Op
	Large bool   // a size of the real network: left out by -short, and timed by Bench
	// Refuse marks a call that must return an error and nothing else: ErrShape unless Values is set.
	Refuse bool
	// Values marks a refusal because of an operand's content, frame offsets or words, which only a device
	// that reads them on the host can give.
	Values bool

	build func(*values) *call
}

// call is a case made concrete: operands with their values and the call of the operation on them.
type call struct {
	operands []*operand // those that are none, or the memory of another, do not count
	run      func(b kernels.Backend) error
	flops    float64 // floating-point operations, 0 if memory decides the speed
}

// calls are those made so far, of large cases only the last one. The reference, which computes each once, takes longer
// than the devices that are judged.
type calls map[madeFor]*call

type madeFor struct {
	name    string
	bf16    bool
	formats tensor.Formats
	large   bool
}

// make draws the values of the case for a device: always the same ones, which a device that computes in bfloat16 gets
// rounded, as the reference does.
func (made calls) make(c Case, device tensor.Device) *call {
	p := device.Precision()
	key := madeFor{name: c.Op + "/" + c.Name, bf16: p == tensor.BF16, formats: device.Formats(), large: c.Large}
	if k := made[key]; k != nil {
		return k
	}
	k := c.build(&values{rng.New(rng.Derive(1, key.name)), p})
	k.operands = distinct(k.operands)
	for _, o := range k.operands {
		o.precision, o.formats = p, key.formats
	}
	if c.Large {
		maps.DeleteFunc(made, func(k madeFor, _ *call) bool { return k.large })
	}
	made[key] = k
	return k
}

// distinct leaves out operands that are none, and repeated ones.
func distinct(operands []*operand) (list []*operand) {
	for _, o := range operands {
		if o.shape != nil && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}

// operand is a tensor of a call. Exactly one of float32s, int32s and uint8s is set for an input. None is set
// for an output of floats, which is filled with NaN before the call.
type operand struct {
	name     string
	shape    []int
	float32s []float32
	int32s   []int32
	uint8s   []uint8

	computing bool // of the type of maps on the device, which may be bfloat16
	weights   bool // of the type of the weights of linear layers
	rounded   bool // float32, but the device may have rounded it to the type that it computes in
	precision tensor.Precision
	formats   tensor.Formats

	want    []float64 // nil for operands that the operation must not change
	at      []int     // the elements that want holds, nil for all
	verdict verdict
	// numeric is the central difference of the reference's forward at element i, nil for none.
	numeric func(i int) float64
	slope   map[int]float64 // results of numeric
	memory  *dense.Dense    // the image of an operand that is read

	t, whole *tensor.Tensor // view and its memory with guards, while bound to a device
}

// guard is the number of elements before and after each operand: they keep whole vectors aligned.
const guard = 64

// Guard values: a float32 NaN with its own payload, so that an operation that reads it gives NaN; an index
// far outside of everything; and a byte.
const (
	guardBits  = 0x7fc0beef
	guardInt32 = math.MaxInt32 - 12345
	guardByte  = 0xa5
	guardHalf  = 0x7fce // a bfloat16 NaN
)

func (o *operand) length() int {
	n, _ := tensor.Elements(o.shape)
	return n
}

// computed marks an operand of the type of maps.
func (o *operand) computed() *operand {
	o.computing = true
	return o
}

// linear marks the weights of a linear layer.
func (o *operand) linear() *operand {
	o.weights = true
	return o
}

// accuracy is the accuracy of a device of accuracy a for the operand: float32 results are as good in
// bfloat16, because its operands are exact.
func (o *operand) accuracy(a Accuracy) Accuracy {
	if o.precision == tensor.BF16 && o.dtype() != tensor.BFloat16 && !o.rounded {
		return FP32()
	}
	return a
}

func (o *operand) dtype() tensor.DType {
	switch {
	case o.computing:
		return o.formats.Maps
	case o.weights:
		return o.formats.Linear
	case o.int32s != nil:
		return tensor.Int32
	case o.uint8s != nil:
		return tensor.Uint8
	}
	return tensor.Float32
}

// bind allocates the operand on a device, between guards.
func (o *operand) bind(b tensor.Device) (err error) {
	if o.whole, err = b.Alloc(o.dtype(), o.length()+2*guard); err != nil {
		return err
	}
	middle, err := o.whole.Rows(guard, guard+o.length())
	if err != nil {
		return err
	}
	o.t, err = middle.Reshape(o.shape...)
	return err
}

// fill writes guards and contents to the device. garbage fills an output.
func (o *operand) fill(b tensor.Device, garbage float32) error {
	return b.Upload(o.whole, o.image(garbage))
}

// image is the whole memory of the operand before a call. It must not be changed.
func (o *operand) image(garbage float32) *dense.Dense {
	if o.memory != nil {
		return o.memory
	}
	n := o.length()
	var d *dense.Dense
	switch o.dtype() {
	case tensor.Int32:
		d = host(surround(o.int32s, n, guardInt32, 0))
	case tensor.Uint8:
		d = host(surround(o.uint8s, n, guardByte, 0))
	case tensor.BFloat16:
		half := make([]uint16, len(o.float32s))
		tensor.RoundBFloat16(half, o.float32s)
		untouched := make([]uint16, 1)
		tensor.RoundBFloat16(untouched, []float32{garbage})
		d = host(surround(half, n, guardHalf, untouched[0]))
	default:
		d = host(surround(o.float32s, n, math.Float32frombits(guardBits), garbage))
	}
	if o.float32s != nil || o.int32s != nil || o.uint8s != nil { // no garbage in it
		o.memory = d
	}
	return d
}

func surround[E any](contents []E, n int, guardValue, garbage E) []E {
	list := make([]E, n+2*guard)
	for i := range guard {
		list[i], list[guard+n+i] = guardValue, guardValue
	}
	middle := list[guard : guard+n]
	for i := copy(middle, contents); i < n; i++ {
		middle[i] = garbage
	}
	return list
}

func host[E any](list []E) *dense.Dense {
	return dense.New(dense.WithShape(len(list)), dense.WithBacking(list))
}

// read copies the whole memory of the operand from the device.
func (o *operand) read(b tensor.Device) (*dense.Dense, error) {
	n := o.length() + 2*guard
	var d *dense.Dense
	switch o.dtype() {
	case tensor.Int32:
		d = host(make([]int32, n))
	case tensor.Uint8:
		d = host(make([]uint8, n))
	case tensor.BFloat16:
		d = host(make([]uint16, n))
	default:
		d = host(make([]float32, n))
	}
	return d, b.Download(d, o.whole)
}

// values draws the contents of operands.
type values struct {
	stream    rng.Stream
	precision tensor.Precision
}

// held is numbers as the device holds them, rounded in place.
func (v *values) held(list []float32) []float32 {
	if v.precision == tensor.BF16 {
		half := make([]uint16, len(list))
		tensor.RoundBFloat16(half, list)
		tensor.WidenBFloat16(list, half)
	}
	return list
}

func input(name string, data []float32, shape ...int) *operand {
	return &operand{name: name, shape: shape, float32s: data}
}

func ints(name string, data []int32, shape ...int) *operand {
	return &operand{name: name, shape: shape, int32s: data}
}

func octets(name string, data []uint8, shape ...int) *operand {
	return &operand{name: name, shape: shape, uint8s: data}
}

func output(name string, want []float64, v verdict, shape ...int) *operand {
	return &operand{name: name, shape: shape, want: want, verdict: v}
}

// normal returns n numbers with mean 0 and deviation 1. They are normally distributed, or uniform if drawing
// that many would take longer than the test.
func (v *values) normal(n int) []float32 {
	list := make([]float32, n)
	if n > 50_000 {
		for i := range list {
			list[i] = (float32(v.stream.Uint32()>>8)/(1<<23) - 1) * 1.7320508
		}
		return v.held(list)
	}
	for i := range list {
		list[i] = float32(v.stream.Normal(0, 1))
	}
	return v.held(list)
}

// coarse returns n numbers of a few levels from -1 to 1.5, so that ties and zeros are common.
func (v *values) coarse(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(v.stream.Intn(6)-2) / 2
	}
	return list
}

func (v *values) labels(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(v.stream.Intn(2))
	}
	return list
}

// wide returns numbers for the reference. nil stays nil.
func wide[E float32 | int32 | uint8 | int64](list []E) []float64 {
	if list == nil {
		return nil
	}
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

func sum(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

func offsets(list []int32) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}

// oneEach are the offsets of T bags of one frame, the meaning of a nil tensor of bags.
func oneEach(frames int) []int32 {
	list := make([]int32, frames+1)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// differences makes the numeric gradient of the scalar sum of dy·forward with respect to x.
func differences(x, dy []float64, forward func() []float64) func(i int) float64 {
	return func(i int) float64 {
		return ref.Central(func() float64 { return ref.Dot(dy, forward()) }, x, i, 1e-4)
	}
}

// named joins key=value parts. It accepts only characters without a meaning in a pattern of go test -run.
func named(format string, arguments ...any) string {
	return strings.ReplaceAll(fmt.Sprintf(format, arguments...), "-", "m")
}

// dimensions writes a shape for a name: 8x14x14x3.
func dimensions(shape []int) string { return strings.ReplaceAll(tensor.Format(shape), "×", "x") }
