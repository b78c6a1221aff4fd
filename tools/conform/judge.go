package conform

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// judge runs a case on a backend and returns everything that is wrong. other, which may be nil, is
// the same device with another number of threads.
func (made calls) judge(b, other kernels.Backend, c Case, o Options) []error {
	if c.Refuse {
		return made.refused(b, c)
	}
	k := made.make(c, b)
	before := k.images(0)
	first, err := k.execute(b, float32(math.NaN()))
	if err != nil {
		return []error{err}
	}
	problems := k.inspect(before, first, o.Accuracy)
	if !c.Large || other == nil { // the run with other threads is a second one, too
		again, err := k.execute(b, 3e33)
		if err != nil {
			return append(problems, fmt.Errorf("second run: %w", err))
		}
		problems = append(problems, k.same(first, again, "not repeatable: a second run")...)
	}
	if o.ZeroAllocs && !c.Large {
		problems = append(problems, k.allocations(b)...)
	}
	if other != nil {
		again, err := k.execute(other, -5e32)
		if err != nil {
			return append(problems, fmt.Errorf("other number of threads: %w", err))
		}
		problems = append(problems, k.same(first, again, "another number of threads")...)
	}
	return problems
}

// refused runs a call that must fail, without a panic.
func (made calls) refused(b kernels.Backend, c Case) (problems []error) {
	k := made.make(c, b)
	_, err := k.execute(b, 0)
	switch {
	case err == nil:
		return []error{errors.New("accepted what it must refuse")}
	case errors.Is(err, errPanic), !c.Values && !errors.Is(err, tensor.ErrShape):
		return []error{fmt.Errorf("error %w, want ErrShape", err)}
	}
	return nil
}

var errPanic = errors.New("panic")

// images are the memories of all operands before a call, as bytes of their element type.
func (k *call) images(garbage float32) []any {
	list := make([]any, len(k.operands))
	for i, o := range k.operands {
		list[i] = o.image(garbage).Data()
	}
	return list
}

// execute binds the call to a backend, runs it once and returns the memories of all operands.
func (k *call) execute(b kernels.Backend, garbage float32) (memories []any, err error) {
	release, err := k.bind(b, garbage)
	defer release()
	if err != nil {
		return nil, err
	}
	if err := k.guarded(b); err != nil {
		return nil, err
	}
	for _, o := range k.operands {
		d, err := o.read(b)
		if err != nil {
			return nil, fmt.Errorf("download %s: %w", o.name, err)
		}
		memories = append(memories, d.Data())
	}
	return memories, nil
}

// bind allocates and fills all operands. Call release in any case.
func (k *call) bind(b kernels.Backend, garbage float32) (release func(), err error) {
	release = func() {
		for _, o := range k.operands {
			if o.whole != nil {
				_ = b.Free(o.whole) // the tensors are garbage by now, whatever Free returns
			}
			o.t, o.whole = nil, nil
		}
	}
	for _, o := range k.operands {
		if err := o.bind(b); err != nil {
			return release, fmt.Errorf("alloc %s: %w", o.name, err)
		}
		if err := o.fill(b, garbage); err != nil {
			return release, fmt.Errorf("upload %s: %w", o.name, err)
		}
	}
	return release, nil
}

// guarded calls the operation and waits. A panic becomes an error.
func (k *call) guarded(b kernels.Backend) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	if err := k.run(b); err != nil {
		return err
	}
	return b.Sync()
}

// inspect compares the memories after a call with those before and with the wanted values.
func (k *call) inspect(before, after []any, a Accuracy) (problems []error) {
	for i, o := range k.operands {
		note := func(err error) {
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", o.name, err))
			}
		}
		note(o.outside(before[i], after[i]))
		if o.want == nil {
			continue
		}
		got := numbers(after[i])[guard : guard+o.length()]
		a := o.accuracy(a)
		note(o.verdict(a, o.picked(got), o.want))
		note(o.finite(got))
		note(o.slopes(a, got))
	}
	return problems
}

// outside finds a change of the guards, or any change of an operand that is only read.
func (o *operand) outside(before, after any) error {
	lo, hi := guard, guard+o.length()
	place := difference(before, after, func(i int) bool { return o.want != nil && i >= lo && i < hi })
	switch {
	case place < 0:
		return nil
	case place < lo:
		return fmt.Errorf("wrote before its start: guard %d elements before it changed", lo-place)
	case place >= hi:
		return fmt.Errorf("wrote past its end: guard %d elements after it changed", place-hi)
	}
	return fmt.Errorf("an input was changed at element %d", place-lo)
}

// numbers widens a memory.
func numbers(memory any) []float64 {
	switch list := memory.(type) {
	case []float32:
		return wide(list)
	case []int32:
		return wide(list)
	case []uint8:
		return wide(list)
	case []uint16:
		floats := make([]float32, len(list))
		tensor.WidenBFloat16(floats, list)
		return wide(floats)
	}
	panic(fmt.Sprintf("conform: memory of type %v", reflect.TypeOf(memory)))
}

// picked are the elements that want covers.
func (o *operand) picked(got []float64) []float64 {
	if o.at == nil {
		return got
	}
	some := make([]float64, len(o.at))
	for i, at := range o.at {
		some[i] = got[at]
	}
	return some
}

// finite checks all elements if want covers only some: NaN is the initial content.
func (o *operand) finite(got []float64) error {
	if o.at == nil {
		return nil
	}
	for i, v := range got {
		if math.IsNaN(v) || math.Abs(v) > 1e30 {
			return fmt.Errorf("element %d is %v: not written", i, v)
		}
	}
	return nil
}

// slopes compares a gradient with central differences of the reference at up to 24 elements. The
// differences are good to about 1e-7 of the largest element.
func (o *operand) slopes(a Accuracy, all []float64) error {
	if o.numeric == nil {
		return nil
	}
	const samples = 24
	n := o.length()
	var got, want []float64
	largest := 0.0
	if o.slope == nil {
		o.slope = map[int]float64{}
	}
	for j := range min(n, samples) {
		i := j
		if n > samples {
			i = j * (n - 1) / (samples - 1)
		}
		if _, known := o.slope[i]; !known {
			o.slope[i] = o.numeric(i)
		}
		got, want = append(got, all[i]), append(want, o.slope[i])
		largest = max(largest, math.Abs(want[j]))
	}
	rough := 40*a.Element*largest + 1e-7
	if err := pointwise(1e-3, rough)(a, got, want); err != nil {
		return fmt.Errorf("against central differences: %w", err)
	}
	return nil
}

// same compares two runs bit by bit, guards left out.
func (k *call) same(first, second []any, what string) (problems []error) {
	for i, o := range k.operands {
		outside := func(j int) bool { return j < guard || j >= guard+o.length() }
		if place := difference(first[i], second[i], outside); place >= 0 {
			problems = append(problems, fmt.Errorf("%s: %s gives another element %d: %v, before %v",
				o.name, what, place-guard, numbers(second[i])[place], numbers(first[i])[place]))
		}
	}
	return problems
}

// allocations counts the host allocations of a call on bound operands.
func (k *call) allocations(b kernels.Backend) []error {
	release, err := k.bind(b, 0)
	defer release()
	if err != nil {
		return []error{err}
	}
	failed := error(nil)
	// The runtime's own occasional allocations are counted too, and do not come every time.
	const tries = 5
	var n float64
	for range tries {
		n = testing.AllocsPerRun(2, func() {
			if err := k.guarded(b); err != nil {
				failed = err
			}
		})
		if n == 0 || failed != nil {
			break
		}
	}
	if n > 0 && failed == nil {
		failed = fmt.Errorf("a call allocates %v times", n)
	}
	if failed != nil {
		return []error{failed}
	}
	return nil
}

// difference returns the first index where two memories differ in their bits, -1 for none.
func difference(a, b any, leaveOut func(i int) bool) int {
	switch a := a.(type) {
	case []float32:
		b := b.([]float32)
		for i := range a {
			if math.Float32bits(a[i]) != math.Float32bits(b[i]) && !leaveOut(i) {
				return i
			}
		}
		return -1
	case []int32:
		return firstOf(a, b.([]int32), leaveOut)
	case []uint8:
		return firstOf(a, b.([]uint8), leaveOut)
	case []uint16:
		return firstOf(a, b.([]uint16), leaveOut)
	}
	panic(fmt.Sprintf("conform: memory of type %v", reflect.TypeOf(a)))
}

func firstOf[E comparable](a, b []E, leaveOut func(i int) bool) int {
	for i := range a {
		if a[i] != b[i] && !leaveOut(i) {
			return i
		}
	}
	return -1
}
