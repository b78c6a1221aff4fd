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
	rounded              // one plan computes all of it, with the bias rounded to bfloat16 first
	apart                // a plan computes the sums, a kernel of this package the rest
	own                  // a kernel of this package computes all of it
)

// question is the subject of a choice, which is made once: a pass over a shape, with or without a bias
// gradient after it.
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
	bytes int          // bytes that kernels of this package move in addition
	run   func() error // runs the plan of cuDNN, so that it is chosen and measured; nil if there is none
}

// Cost of a kernel of this package: a fixed time, and a time for its bytes, by the bandwidth of the memory
// or, if that is unknown, by this one. So a choice depends only on numbers stored with the plans and on
// properties of the card, and every run makes the same choice.
const (
	launchMicroseconds = 3
	shareOfBandwidth   = 0.75
	unknownBandwidth   = 1e6 // bytes in a microsecond
)

// fastest is the fastest form among those that need no plan or for which cuDNN has one. Of equal forms it is
// the first. If there is none, the error is the last form's.
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

// microseconds is the time of a kernel of this package for this number of bytes.
func (c *CUDA) microseconds(bytes int) float64 {
	if bytes == 0 {
		return 0
	}
	bandwidth := cmp.Or(c.device.Device.Info().Bandwidth, unknownBandwidth)
	return launchMicroseconds + float64(bytes)/(shareOfBandwidth*bandwidth)
}
