//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"

	dnn "gorgonia.org/cu/dnn"

	"nmn/cuda"
)

// direct computes a pass in float32 without graphs.
type direct struct {
	pass       Pass
	x, y, bias *dnn.TensorDescriptor
	w          *dnn.Filter
	conv       *dnn.Convolution
	activation *dnn.Activation
	algorithm  int
	workspace  int

	// The tensors while they are enqueued; dnn takes them through an interface.
	atX, atW, atY, atBias, atWorkspace memory
}

// memory is an address as dnn takes it.
type memory struct{ at cuda.Address }

func (m *memory) Uintptr() uintptr           { return uintptr(m.at) }
func (m *memory) IsNativelyAccessible() bool { return false }

// newDirect describes a pass. Package dnn takes sizes in the order n, c, h, w also of NHWC.
func newDirect(pass Pass, c Conv) (d *direct, err error) {
	d = &direct{pass: pass}
	tensor := func(to **dnn.TensorDescriptor, shape ...int) {
		if err == nil {
			*to, err = dnn.NewTensorDescriptor(dnn.NHWC, dnn.Float, shape, nil)
		}
	}
	tensor(&d.x, c.N, c.C, c.H, c.W)
	tensor(&d.y, c.N, c.K, c.P(), c.Q())
	tensor(&d.bias, 1, c.K, 1, 1)
	if err == nil {
		d.w, err = dnn.NewFilter(dnn.Float, dnn.NHWC, []int{c.K, c.C, c.R, c.S})
	}
	if err == nil {
		pad, step, one := []int{c.Pad, c.Pad}, []int{c.step(), c.step()}, []int{1, 1}
		d.conv, err = dnn.NewConvolution(dnn.FmaMath, 1, pad, step, one, dnn.CrossCorrelation, dnn.Float)
	}
	if err == nil {
		mode := dnn.Identity
		if pass == ForwardBiasReLU {
			mode = dnn.ReLU
		}
		d.activation, err = dnn.NewActivation(mode, dnn.PropagateNan, 0)
	}
	if err != nil {
		d.close()
		return nil, &Error{Operation: "describe " + plansKey(pass, c), Code: -1, Name: err.Error(), Detail: lastWords()}
	}
	return d, nil
}

// close frees the filter. The garbage collector frees the rest.
func (d *direct) close() {
	if d.w != nil {
		C.nmn_cudnn_destroy_filter(rawOf(d.w))
		d.w = nil
	}
}

// directPlans lists the algorithms that are deterministic and fit, in the order in which cuDNN expects them
// to be fast. With a mask, which this interface does not support, there are none.
func (h *Handle) directPlans(pass Pass, c Conv) (list []*plan, err error) {
	if pass == MaskedDataGradient {
		return nil, nil
	}
	d, err := newDirect(pass, c)
	if err != nil {
		return nil, err
	}
	defer d.close()
	kind := C.int(C.NMN_FORWARD)
	switch pass {
	case DataGradient:
		kind = C.NMN_DATA
	case FilterGradient:
		kind = C.NMN_FILTER
	}
	var found [16]C.nmn_algorithm
	var count C.int
	err = check("list the algorithms of "+plansKey(pass, c), C.nmn_cudnn_algorithms(rawOf(h.context), kind,
		rawOf(d.x), rawOf(d.w), rawOf(d.conv), rawOf(d.y), &found[0], C.int(len(found)), &count))
	if err != nil {
		return nil, err
	}
	for _, a := range found[:count] {
		if !d.fits(a) || int(a.workspace) > h.options.MaxWorkspace {
			continue
		}
		p, planErr := h.directPlan(pass, c, Choice{Direct: true, Engine: Engine{Index: int64(a.algorithm)},
			Workspace: int(a.workspace)})
		if planErr != nil {
			err = errors.Join(err, planErr)
			continue
		}
		list = append(list, p)
	}
	return list, err
}

// fits reports whether an algorithm may be used: with only one of them cuDNN adds a bias without ReLU.
func (d *direct) fits(a C.nmn_algorithm) bool {
	return a.status == C.CUDNN_STATUS_SUCCESS && a.deterministic != 0 && a.math == C.CUDNN_FMA_MATH &&
		(d.pass != ForwardBias || a.algorithm == C.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
}

// directPlan builds the plan of an algorithm.
func (h *Handle) directPlan(pass Pass, c Conv, choice Choice) (*plan, error) {
	d, err := newDirect(pass, c)
	if err != nil {
		return nil, err
	}
	d.algorithm, d.workspace = int(choice.Index), choice.Workspace
	return &plan{name: "cudnn " + plansKey(pass, c), choice: choice, direct: d}, nil
}

// run enqueues the pass.
func (d *direct) run(on *dnn.Context, o Operands, workspace cuda.Address) (err error) {
	d.atX.at, d.atW.at, d.atY.at, d.atBias.at, d.atWorkspace.at = o.X, o.W, o.Y, o.Bias, workspace
	bytes := uintptr(d.workspace)
	switch d.pass {
	case Forward:
		err = on.ConvolutionForward(1, d.x, &d.atX, d.w, &d.atW, d.conv, dnn.ConvolutionFwdAlgo(d.algorithm),
			&d.atWorkspace, bytes, 0, d.y, &d.atY)
	case ForwardBias, ForwardBiasReLU:
		err = on.ConvolutionBiasActivationForward(1, d.x, &d.atX, d.w, &d.atW, d.conv, dnn.ConvolutionFwdAlgo(d.algorithm),
			&d.atWorkspace, bytes, 0, d.y, &d.atY, d.bias, &d.atBias, d.activation, d.y, &d.atY)
	case DataGradient:
		err = on.ConvolutionBackwardData(1, d.w, &d.atW, d.y, &d.atY, d.conv, dnn.ConvolutionBwdDataAlgo(d.algorithm),
			&d.atWorkspace, bytes, 0, d.x, &d.atX)
	case FilterGradient:
		err = on.ConvolutionBackwardFilter(1, d.x, &d.atX, d.y, &d.atY, d.conv, dnn.ConvolutionBwdFilterAlgo(d.algorithm),
			&d.atWorkspace, bytes, 0, d.w, &d.atW)
	}
	if err != nil {
		return &Error{Operation: "run an algorithm", Code: -1, Name: err.Error(), Detail: lastWords()}
	}
	return nil
}

// handles are the types of package dnn whose first field rawOf reads.
var handles = []any{(*dnn.Context)(nil), (*dnn.TensorDescriptor)(nil), (*dnn.Filter)(nil), (*dnn.Convolution)(nil)}

var _ dnn.Memory = (*memory)(nil)
