package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nmn/format/safetensors"
)

// normEpsilon is the constant that torchvision and timm add to the variances of their residual nets.
const normEpsilon = 1e-5

// The tensors of batch normalisation, which replace a layer's name with its point.
const (
	normGain     = "weight"
	normShift    = "bias"
	normMean     = "running_mean"
	normVariance = "running_var"
	normCount    = "num_batches_tracked" // of no use
)

// folded are the tensors of a file with each batch normalisation folded into the convolution before it, with the
// statistics as they are: for output channel k of a convolution w, with s = gain/√(variance + 1e-5),
//
//	w'[k] = w[k] · s[k]    b'[k] = shift[k] + (b[k] - mean[k]) · s[k]
//
// with b = 0 if the convolution has no bias. Tensors are read only when needed.
type folded struct {
	Source
	names []string
	norms map[string]string // normalisation of a convolution's weight or bias, with a final point
}

// normOf returns the name of the normalisation after a convolution of a residual net, with a final point.
func normOf(conv string) string {
	if strings.HasSuffix(conv, "downsample.0") {
		return strings.TrimSuffix(conv, "0") + "1."
	}
	i := strings.LastIndex(conv, "conv")
	return conv[:i] + "bn" + conv[i+len("conv"):] + "."
}

// fold folds the normalisations of a residual net's file. A file without any is returned unchanged: its
// normalisations are already folded, by nmn or by another program.
func (n *Net) fold(f Source) (Source, error) {
	there := map[string]bool{}
	for _, name := range f.Names() {
		there[name] = true
	}
	normalised := func(conv string) bool {
		norm := normOf(conv)
		return there[norm+normGain] || there[norm+normShift] || there[norm+normMean] || there[norm+normVariance]
	}
	if !slices.ContainsFunc(n.units, func(u *unit) bool { return u.Kind == Convolution && normalised(u.File) }) {
		return f, nil
	}
	of := &folded{Source: f, norms: map[string]string{}}
	consumed := map[string]bool{}
	for _, u := range n.units {
		weight, bias := u.File+".weight", u.File+".bias"
		if u.Kind != Convolution || !there[weight] {
			continue // a missing tensor is reported later, with the names looked for
		}
		norm := normOf(u.File)
		if err := checkNorm(f, there, u, norm); err != nil {
			return nil, err
		}
		of.norms[weight], of.norms[bias] = norm, norm
		for _, name := range u.tensors() {
			consumed[name] = true
		}
		of.names = append(of.names, weight, bias)
	}
	for _, name := range f.Names() {
		if !consumed[name] {
			of.names = append(of.names, name)
		}
	}
	return of, nil
}

// tensors lists the names that a file may have for a convolution and the normalisation after it.
func (u *unit) tensors() [7]string {
	norm := normOf(u.File)
	return [...]string{u.File + ".weight", u.File + ".bias", norm + normGain, norm + normShift, norm + normMean,
		norm + normVariance, norm + normCount}
}

// checkNorm checks names and shapes of the normalisation after a convolution.
func checkNorm(f Source, there map[string]bool, u *unit, norm string) error {
	names := []string{norm + normGain, norm + normShift, norm + normMean, norm + normVariance}
	if own := u.File + ".bias"; there[own] {
		names = append(names, own)
	}
	for _, name := range names {
		if !there[name] {
			return fmt.Errorf("model: the file has no %s, which batch normalisation after %s needs: save the whole "+
				"state_dict() of the net: %w", name, u.File, ErrOtherModel)
		}
		_, shape, err := f.Info(name)
		if err != nil {
			return err
		}
		if !slices.Equal(shape, []int{u.C}) {
			return fmt.Errorf("model: %s is %v in the file, want %v after %s of this network: %w", name, shape, []int{u.C},
				u.File, ErrOtherModel)
		}
	}
	return nil
}

// Names implements Source.
func (f *folded) Names() []string { return f.names }

// Info implements Source.
func (f *folded) Info(name string) (safetensors.DType, []int, error) {
	if norm, is := f.norms[name]; is && strings.HasSuffix(name, ".bias") {
		return f.Source.Info(norm + normShift)
	}
	return f.Source.Info(name)
}

// Elements implements Source.
func (f *folded) Elements(name string) (func(dst []float32) error, error) {
	norm, is := f.norms[name]
	if !is {
		return f.Source.Elements(name)
	}
	scale, err := f.scale(norm)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".bias") {
		return f.bias(name, norm, scale)
	}
	next, err := f.Source.Elements(name)
	if err != nil {
		return nil, err
	}
	_, shape, err := f.Source.Info(name)
	if err != nil {
		return nil, err
	}
	filter, at := 1, 0
	for _, side := range shape[min(1, len(shape)):] {
		filter *= side
	}
	return func(dst []float32) error {
		if err := next(dst); err != nil {
			return err
		}
		for i, v := range dst {
			dst[i] = float32(float64(v) * scale[(at+i)/filter])
		}
		at += len(dst)
		return nil
	}, nil
}

// scale is gain/√(variance + 1e-5) of each channel.
func (f *folded) scale(norm string) ([]float64, error) {
	gain, err := f.vector(norm + normGain)
	if err != nil {
		return nil, err
	}
	variance, err := f.vector(norm + normVariance)
	if err != nil {
		return nil, err
	}
	scale := make([]float64, len(gain))
	for k, v := range variance {
		if v < 0 {
			return nil, fmt.Errorf("element %d of %s is %v, and no variance is below 0: the file is damaged; save it again",
				k, norm+normVariance, v)
		}
		scale[k] = float64(gain[k]) / math.Sqrt(float64(v)+normEpsilon)
	}
	return scale, nil
}

// bias reads the folded bias of a convolution.
func (f *folded) bias(name, norm string, scale []float64) (func(dst []float32) error, error) {
	shift, err := f.vector(norm + normShift)
	if err != nil {
		return nil, err
	}
	mean, err := f.vector(norm + normMean)
	if err != nil {
		return nil, err
	}
	own := make([]float32, len(shift))
	if slices.Contains(f.Source.Names(), name) {
		if own, err = f.vector(name); err != nil {
			return nil, err
		}
	}
	for k := range shift {
		shift[k] = float32(float64(shift[k]) + (float64(own[k])-float64(mean[k]))*scale[k])
	}
	return func(dst []float32) error {
		shift = shift[copy(dst, shift):]
		return nil
	}, nil
}

// vector reads a tensor of one number for each channel.
func (f *folded) vector(name string) ([]float32, error) {
	_, shape, err := f.Source.Info(name)
	if err != nil {
		return nil, err
	}
	next, err := f.Source.Elements(name)
	if err != nil {
		return nil, err
	}
	values := make([]float32, shape[0])
	if err := next(values); err != nil {
		return nil, err
	}
	for k, v := range values {
		if v-v != 0 { // infinite or NaN
			return nil, fmt.Errorf("element %d of %s is %v: the file is damaged or its training diverged; take another", k,
				name, v)
		}
	}
	return values, nil
}
