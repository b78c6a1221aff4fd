//go:build !cuda

package kernels

import "errors"

// openCard is for builds with CUDA.
func openCard(Config, int) (Backend, error) {
	return nil, errors.New("this program was built without CUDA (make cuda builds it with)")
}
