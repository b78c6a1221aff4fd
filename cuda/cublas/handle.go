//go:build cuda

package cublas

// #include "layer.h"
import "C"

import (
	"fmt"
	"unsafe"

	"nmn/cuda"
)

// Handle computes products on a stream. It serves one goroutine at a time.
type Handle struct {
	device *cuda.Device
	stream *cuda.Stream
	handle unsafe.Pointer
}

// Open opens cuBLASLt on a stream. If the library is missing, or does not work with the driver, the error
// wraps ErrNoLibrary.
func Open(stream *cuda.Stream) (*Handle, error) {
	if err := library(); err != nil {
		return nil, err
	}
	h := &Handle{device: stream.Device(), stream: stream}
	err := h.device.Do(func() error { return check("start", C.nmn_cublas_create(&h.handle)) })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrNoLibrary)
	}
	return h, nil
}

// Close frees the handle. Close its products first. Closing twice is harmless.
func (h *Handle) Close() error {
	if h.handle == nil {
		return nil
	}
	handle := h.handle
	h.handle = nil
	return h.device.Finish(func() error { return check("end", C.nmn_cublas_destroy(handle)) })
}

// Operands are the tensors of a product in device memory, at multiples of 16 bytes. Bias is read if the
// product has one.
type Operands struct{ A, B, D, Bias cuda.Address }

// Plan is a product that can be computed, with the way that it is.
type Plan struct {
	Way     Way
	name    string // in the reports of faults
	handle  *Handle
	product C.nmn_product
	way     C.nmn_way
	biased  bool
	bias    cuda.Address // that product has
}

// statusNotSupported is the library's status for products that it cannot compute.
const statusNotSupported = 15

// Error is a call that cuBLASLt has refused.
type Error struct {
	Operation string // the operation that failed
	Code      int    // cublasStatus_t
}

func (e *Error) Error() string { return fmt.Sprintf("cublas: %s: status %d", e.Operation, e.Code) }

// Is makes statuses that mean so equal to ErrUnsupported.
func (e *Error) Is(target error) bool {
	return target == ErrUnsupported && e.Code == statusNotSupported
}

func check(operation string, status C.int) error {
	if status == 0 {
		return nil
	}
	return &Error{Operation: operation, Code: int(status)}
}

// The numbers of the interface: types of elements, kinds of multiplication, and flags of operands.
const (
	typeFloat, typeBFloat16                  = 0, 14
	compute32F, compute32FTF32               = 68, 77
	flagFMA, flagTensorCores                 = 0x01, 0xfe
	flagSumFloat                      uint64 = 0x02 << 8
	flagBFloat16, flagTF32, flagFloat uint64 = 0x02 << 16, 0x04 << 16, 0x08 << 16
)

// wanted writes a product for the library, which counts columns first: to it, row-major arrays are their transposes,
// and dᵀ = op(b)ᵀ op(a)ᵀ.
func (p Product) wanted(bias cuda.Address) (w C.nmn_wanted, flags uint64) {
	w = C.nmn_wanted{
		compute: compute32F, m: C.int64_t(p.Columns), n: C.int64_t(p.Rows), k: C.int64_t(p.Inner),
		factors: typeFloat, result: typeFloat,
	}
	if p.TransposeB {
		w.transpose_a = 1
	}
	if p.TransposeA {
		w.transpose_b = 1
	}
	if p.Bias {
		w.bias = C.uint64_t(bias)
	}
	switch p.Precision {
	case TF32:
		w.compute = compute32FTF32
		return w, flagFMA | flagTensorCores | flagSumFloat | flagTF32 | flagFloat
	case BFloat16:
		w.factors, w.result = typeBFloat16, typeBFloat16
		if p.Wide {
			w.result = typeFloat
		}
		return w, flagFMA | flagTensorCores | flagSumFloat | flagBFloat16
	}
	return w, flagFMA | flagSumFloat | flagFloat
}

// describe makes the descriptors of a product, whose bias address is a placeholder. It needs no device.
func describe(p Product, bias cuda.Address) (*Plan, uint64, error) {
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	plan := &Plan{name: "cublas " + p.String(), biased: p.Bias, bias: bias}
	wanted, flags := p.wanted(bias)
	if err := check("describe "+p.String(), C.nmn_cublas_describe(&plan.product, &wanted)); err != nil {
		return nil, 0, err
	}
	return plan, flags, nil
}

// ways asks the library for ways with a handle.
func (p *Plan) ways(handle unsafe.Pointer, flags uint64, most int) ([]C.nmn_way, error) {
	list := make([]C.nmn_way, most)
	var count C.int
	err := check("choose a way for "+p.name, C.nmn_cublas_ways(handle, &p.product, maxWorkspace, C.uint64_t(flags),
		&list[0], C.int(most), &count))
	return list[:count], err
}

// Plans returns at most this many plans of a product, at least one, in the order in which the library expects
// them to be fast. All of them give equal bits in every run. If there is none the error wraps ErrUnsupported.
// Close frees each.
func (h *Handle) Plans(p Product, bias cuda.Address, most int) (list []*Plan, err error) {
	plan, flags, err := describe(p, bias)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	var ways []C.nmn_way
	err = h.device.Do(func() (err error) {
		ways, err = plan.ways(h.handle, flags, most)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		if way.state != 0 || way.workspace > maxWorkspace {
			continue
		}
		own, _, err := describe(p, bias)
		if err != nil {
			return list, err
		}
		own.take(h, way)
		list = append(list, own)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("cublas: %v: %w", p, ErrUnsupported)
	}
	return list, nil
}

// Restore is the plan of a product by a way that was found before.
func (h *Handle) Restore(p Product, bias cuda.Address, way Way) (*Plan, error) {
	plan, _, err := describe(p, bias)
	if err != nil {
		return nil, err
	}
	var kept C.nmn_way
	for i, word := range way.Algorithm {
		kept.algorithm[i] = C.uint64_t(word)
	}
	err = h.device.Do(func() error {
		return check("check a way for "+p.String(), C.nmn_cublas_check(h.handle, &plan.product, &kept))
	})
	if err == nil && kept.workspace > maxWorkspace {
		err = fmt.Errorf("cublas: %v: a way with %d bytes of scratch memory", p, kept.workspace)
	}
	if err != nil {
		plan.Close()
		return nil, err
	}
	plan.take(h, kept)
	return plan, nil
}

func (p *Plan) take(h *Handle, way C.nmn_way) {
	p.handle, p.way, p.Way.Workspace = h, way, int(way.workspace)
	for i, word := range way.algorithm {
		p.Way.Algorithm[i] = uint64(word)
	}
}

// Run enqueues the product with the scratch memory that its way needs.
func (p *Plan) Run(o Operands, workspace cuda.Address) error {
	h := p.handle
	err := h.device.Do(func() error {
		if p.biased && o.Bias != p.bias {
			if err := check("set a bias", C.nmn_cublas_set_bias(&p.product, C.uint64_t(o.Bias))); err != nil {
				return err
			}
			p.bias = o.Bias
		}
		return check("run", C.nmn_cublas_run(h.handle, &p.product, &p.way, C.uint64_t(o.B), C.uint64_t(o.A), C.uint64_t(o.D),
			C.uint64_t(workspace), C.uint64_t(p.way.workspace), toPointer(h.stream.Handle())))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return h.stream.Launched(p.name)
}

// Close frees the descriptors. Closing twice is harmless.
func (p *Plan) Close() { C.nmn_cublas_forget(&p.product) }

// toPointer turns a handle of the driver into the pointer that C takes it as.
func toPointer(handle uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&handle)) }
