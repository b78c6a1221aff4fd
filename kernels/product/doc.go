// Package product computes matrix products on a graphics card by one of two libraries: cuDNN, as 1×1
// convolutions, or cuBLASLt if the host has it. When a shape first comes, it measures which library and plan
// is fastest, and stores the choice in a file.
package product

// Library computes products.
type Library string

// The libraries, by their names in files and logs.
const (
	CuDNN    Library = "cudnn"
	CuBLASLt Library = "cublaslt"
)
