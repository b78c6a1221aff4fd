// Package cublas calls NVIDIA's library of matrix products, cuBLASLt, on a device of package cuda. It is
// built with the tag cuda. In other builds only the errors exist.
//
// Open opens the library when the program runs. Building needs no header of it: layer.h declares the few
// functions that are called. A host may lack cuBLASLt: cuDNN also computes products, as 1×1 convolutions. The
// package only offers plans that give equal bits in every run.
package cublas

import "errors"

// Errors that a caller can handle.
var (
	// ErrNoLibrary: libcublasLt is not on this host, or does not work with its driver.
	ErrNoLibrary = errors.New("no cuBLASLt")
	// ErrUnsupported: cuBLASLt has no plan for a product on this device.
	ErrUnsupported = errors.New("no way to compute a product by cuBLASLt")
)
