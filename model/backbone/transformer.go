package backbone

import (
	"nmn/format/weights"
	"nmn/kernels"
)

func transformer(*weights.File, int, kernels.Backend) (*kind, error) { return nil, ErrOther }
