//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"nmn/cuda"
)

// Operands are the tensors of a pass in device memory. In the gradient passes a tensor's place holds its
// gradient if the pass reads or writes that. Only ForwardBias and ForwardBiasReLU read Bias, and only
// MaskedDataGradient reads Mask. All must be aligned to 16 bytes.
type Operands struct{ X, W, Y, Bias, Mask cuda.Address }

// Run enqueues a pass. Forward, ForwardBias and ForwardBiasReLU overwrite Y, DataGradient and
// MaskedDataGradient X, and FilterGradient W. The first run of a shape chooses its plan from the file of
// plans or by measuring, which overwrites the destination and waits. It must not be within a capture. A shape
// that no plan fits gives an error that wraps ErrUnsupported, also in later runs.
func (h *Handle) Run(pass Pass, c Conv, o Operands) error {
	s := Shape{pass, c}
	p, known := h.plans[s]
	if !known {
		err := h.refused[s]
		if err == nil {
			p, err = h.choose(pass, c, o)
		}
		if err != nil {
			if errors.Is(err, ErrUnsupported) {
				h.refused[s] = err
			}
			return err
		}
		h.plans[s] = p
	}
	return h.enqueue(p, o)
}

// Kernel computes a pass without the library.
type Kernel struct {
	Name      string // in choices and reports
	Workspace int    // bytes of scratch memory
	Run       func(o Operands, scratch cuda.Address) error
}

// Include measures a kernel of the caller together with the library's plans when a shape's plan is chosen. It must
// be called before the first run of the shape, also if the kernel was chosen in an earlier run.
func (h *Handle) Include(pass Pass, c Conv, k Kernel) { h.kernels[Shape{pass, c}] = &k }

// kernelPlan is the plan of a kernel from Include, or nil.
func (h *Handle) kernelPlan(pass Pass, c Conv) *plan {
	k := h.kernels[Shape{pass, c}]
	if k == nil || k.Workspace > h.options.MaxWorkspace {
		return nil
	}
	return &plan{name: k.Name, choice: Choice{Kernel: k.Name, Workspace: k.Workspace}, kernel: k}
}

// Chosen is how a pass that has been run is computed.
func (h *Handle) Chosen(pass Pass, c Conv) (Choice, bool) {
	p, known := h.plans[Shape{pass, c}]
	if !known {
		return Choice{}, false
	}
	return p.choice, true
}

// plan is a chosen way to compute a pass.
type plan struct {
	name   string // in the reports of faults
	choice Choice
	graph  *graph // nil for a direct plan
	plan   descriptor
	beside bool    // whether it reads a bias or a mask
	text   []byte  // cuDNN's text, until it is stored; nil if unknown
	direct *direct // nil for a graph's
	kernel *Kernel // nil for the library's plans
}

// close frees cuDNN's objects for the plan.
func (p *plan) close() {
	if p.graph != nil {
		p.graph.abandon(p.plan)
		if p.graph.users--; p.graph.users == 0 {
			p.graph.close()
		}
	}
	if p.direct != nil {
		p.direct.close()
	}
}

// numbersOfGraph are the tensors of a plan, in the order of addresses. A plan without bias and mask has no
// last one.
var numbersOfGraph = [4]int64{numberX, numberW, numberY, numberBeside}

// enqueue enqueues a plan.
func (h *Handle) enqueue(p *plan, o Operands) error {
	workspace, err := h.scratch(p.choice.Workspace)
	if err != nil {
		return err
	}
	if p.kernel != nil {
		return p.kernel.Run(o, workspace)
	}
	if p.direct != nil {
		err = h.device.Do(func() error { return p.direct.run(h.context, o, workspace) })
	} else {
		err = h.device.Do(func() error { return h.execute(p, o, workspace) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return h.stream.Launched(p.name)
}

// execute enqueues the plan of a graph.
func (h *Handle) execute(p *plan, o Operands, workspace cuda.Address) error {
	h.addresses = [4]uint64{uint64(o.X), uint64(o.W), uint64(o.Y), uint64(o.Bias)}
	if p.graph.pass == MaskedDataGradient {
		h.addresses[3] = uint64(o.Mask)
	}
	n := 3
	if p.beside {
		n = 4
	}
	return check("run a plan", C.nmn_cudnn_execute(rawOf(h.context), unsafe.Pointer(p.plan), C.int(n),
		(*C.int64_t)(&numbersOfGraph[0]), (*C.uint64_t)(&h.addresses[0]), C.uint64_t(workspace)))
}

// toPointer turns a handle of the driver into the pointer that C takes it as.
func toPointer(handle uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&handle)) }
