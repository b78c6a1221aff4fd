package kernels

import (
	"nmn/kernels/activation"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/recurrent"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
)

// Backend is a device with all operations. Destinations come first, then sources, then parameters. Calls
// enqueue work and return shape errors at once. A fault of the work itself is returned by Sync or Download. A
// backend serves one goroutine at a time.
type Backend interface {
	tensor.Device
	conv.Ops
	activation.Ops
	pool.Ops
	noise.Ops
	update.Ops
	pixels.Ops
	recurrent.Ops
	transformer.Ops
}
