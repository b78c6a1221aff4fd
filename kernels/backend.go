// Package kernels is for adding operations and devices: a [Backend] joins the families of operations, which have a
// package each, and has one implementation for each kind of device.
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

// Backend is a device with all operations. Destinations come first, then sources, then parameters.
// Calls enqueue work and return shape errors at once; a fault of the work itself surfaces in Sync
// or Download. A backend serves one goroutine at a time.
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
