// Package cublas is NVIDIA's library of matrix products, cuBLASLt, on a device of package cuda. It is built with the
// tag cuda; in other builds only the errors exist.
//
// The library is opened when the program runs, by Open, and no header of it is needed to build: layer.h declares the
// few functions that are called. A host may well do without: cuDNN computes products too, as 1×1 convolutions.
// Only ways to compute a product are offered that give the same bits in every run.
package cublas

import "errors"

// Causes for which a caller can do something else.
var (
	// ErrNoLibrary: libcublasLt is not on this host, or does not work with its driver.
	ErrNoLibrary = errors.New("no cuBLASLt")
	// ErrUnsupported: cuBLASLt has no way to compute a product on this device.
	ErrUnsupported = errors.New("no way to compute a product by cuBLASLt")
)
