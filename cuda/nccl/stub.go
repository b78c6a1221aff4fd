//go:build !cuda

package nccl

import (
	"fmt"

	"nmn/ranks"
)

// OpenGroup fails: this build has no CUDA.
func OpenGroup(GroupOptions) (ranks.Group, error) {
	return nil, fmt.Errorf("nccl: this program was built without the tag cuda: %w", ErrNoLibrary)
}
