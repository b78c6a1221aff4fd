// Package product computes matrix products on a graphics card by one of two libraries: cuDNN, as 1×1 convolutions, or
// cuBLASLt where the host has it. Which of them, and how, is measured when a shape comes first, and kept in a file.
package product

// Library computes products.
type Library string

// The libraries, by the names that files and logs have.
const (
	CuDNN    Library = "cudnn"
	CuBLASLt Library = "cublaslt"
)
