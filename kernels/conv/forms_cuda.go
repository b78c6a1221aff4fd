//go:build cuda

package conv

import (
	"cmp"
	"errors"

	"nmn/cuda/cudnn"
)

// form is how an operation is put together of plans of cuDNN and kernels of this package.
type form uint8

const (
	together form = iota // one plan computes all of it
	rounded              // likewise, with the bias rounded to bfloat16 before
	apart                // a plan computes the sums, a kernel of this package what follows
	own                  // a kernel of this package computes all of it
)

// question is what a form is chosen for, once: a pass over a shape, with or without a bias gradient behind it.
type question struct {
	pass cudnn.Pass
	conv cudnn.Conv
	bias bool
}

// option is one of the forms of an operation.
type option struct {
	form  form
	pass  cudnn.Pass
	conv  cudnn.Conv
	bytes int          // that kernels of this package move besides
	run   func() error // the plan of cuDNN, so that it is chosen and measured; nil where there is none
}

// What a kernel of this package takes: to begin with, and for the bytes that it moves, by the bandwidth of the
// memory or, where that is not known, by this one. A way is thus chosen by numbers that are kept with the plans and
// by those of the card: the same is chosen in every run.
const (
	launchMicroseconds = 3
	shareOfBandwidth   = 0.75
	unknownBandwidth   = 1e6 // bytes in a microsecond
)

// fastest is the form that takes least, of those that need no plan or that cuDNN has one for; of equals the first. The
// error is that of the last where there is none.
func (c *CUDA) fastest(options ...option) (best form, err error) {
	least, found := 0.0, false
	for _, w := range options {
		var failed error
		if w.run != nil {
			failed = w.run()
		}
		switch {
		case errors.Is(failed, cudnn.ErrUnsupported):
			err = failed
			continue
		case failed != nil:
			return best, failed
		}
		choice, _ := c.cudnn.Chosen(w.pass, w.conv)
		took := choice.Microseconds + c.microseconds(w.bytes)
		if !found || took < least {
			best, least, found = w.form, took, true
		}
	}
	if found {
		return best, nil
	}
	return best, err
}

// microseconds is what a kernel of this package takes for so many bytes.
func (c *CUDA) microseconds(bytes int) float64 {
	if bytes == 0 {
		return 0
	}
	bandwidth := cmp.Or(c.device.Device.Info().Bandwidth, unknownBandwidth)
	return launchMicroseconds + float64(bytes)/(shareOfBandwidth*bandwidth)
}
