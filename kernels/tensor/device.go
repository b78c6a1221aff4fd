package tensor

import dense "gorgonia.org/tensor"

// Device is the memory of a processor. Host arrays are gorgonia's *Dense at this border.
// Methods must not be called by several goroutines at once.
type Device interface {
	// Name describes the device for logs and tables, for example "cpu avx512, 2 threads".
	Name() string
	// Precision is the precision of the device's products. It is never Auto.
	Precision() Precision
	// Formats are the element types of its operands in that precision.
	Formats() Formats
	// Alloc returns zeroed memory. It lives until Free or Close.
	Alloc(dtype DType, shape ...int) (*Tensor, error)
	// Free frees memory from Alloc. Its views must not be used afterwards.
	Free(t *Tensor) error
	// Upload copies a host array to dst: equal element type and number of elements. The host array
	// may be changed again when Upload returns.
	Upload(dst *Tensor, src *dense.Dense) error
	// Download waits for the work that was enqueued before it and copies src to a host array of
	// equal element type and number of elements.
	Download(dst *dense.Dense, src *Tensor) error
	// Copy enqueues copying src to dst: equal element type and number of elements, in memory that does
	// not overlap.
	Copy(dst, src *Tensor) error
	// Sync waits for all enqueued work. A fault of any of it is reported here, with the name of the
	// operation.
	Sync() error
	// Close waits, then frees everything. The device cannot be used afterwards.
	Close() error
}

// Arena hands out memory of a device that is freed together: the buffers of one input shape.
type Arena struct {
	device  Device
	tensors []*Tensor
	bytes   int
}

// NewArena makes an empty arena on a device.
func NewArena(device Device) *Arena { return &Arena{device: device} }

// Alloc returns zeroed memory that lives until Close.
func (a *Arena) Alloc(dtype DType, shape ...int) (*Tensor, error) {
	t, err := a.device.Alloc(dtype, shape...)
	if err != nil {
		return nil, err
	}
	a.tensors = append(a.tensors, t)
	a.bytes += t.Bytes()
	return t, nil
}

// Bytes is the memory that the arena holds.
func (a *Arena) Bytes() int { return a.bytes }

// Close frees the arena's memory. Closing twice is harmless.
func (a *Arena) Close() error {
	var first error
	for _, t := range a.tensors {
		if err := a.device.Free(t); err != nil && first == nil {
			first = err
		}
	}
	a.tensors, a.bytes = nil, 0
	return first
}
