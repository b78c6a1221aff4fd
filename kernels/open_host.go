//go:build !cuda

package kernels

import "errors"

// HasCUDA reports whether this build can use a graphics card.
const HasCUDA = false

// openCard is for builds with CUDA.
func openCard(Config, int) (Backend, error) {
	return nil, errors.New("this program was built without CUDA (make cuda builds it with)")
}
