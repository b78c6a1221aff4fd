//go:build cuda

package reduce

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"nmn/cuda"
	"nmn/cuda/nccl"
	"nmn/kernels/tensor"
	"nmn/ranks"
)

// packedTensor is Packed of pack.cu.
type packedTensor struct {
	x          cuda.Address
	at, length int64
	firstChunk uint32
	_          uint32
}

// The constants of pack.cu.
const (
	packChunk   = 16384
	packThreads = 256
	packLanes   = 8
)

// packed is a bucket to sum: its tensors in place, or in a buffer if they are many and small, or rounded.
type packed struct {
	spans  []nccl.Span // the memory to sum
	kind   nccl.Type
	chunks int // in the launches that fill the buffer and read it; 0 for none
	count  int // of tensors in it
	table  cuda.Address
	buffer cuda.Address
	dtype  tensor.DType // of the buffer
}

// pack plans a bucket. In float32, tensors of fewer than smallest elements are packed together. In bfloat16
// all are.
func (c *CUDA) pack(tensors []*tensor.Tensor, wire ranks.Wire) (p packed, err error) {
	if err := tensor.OnDevice("reduce", tensor.Float32, tensors...); err != nil {
		return p, err
	}
	p.kind, p.dtype = nccl.Float32, tensor.Float32
	if wire == ranks.BFloat16 {
		p.kind, p.dtype = nccl.BFloat16, tensor.BFloat16
	}
	var table []packedTensor
	var room int64
	for _, t := range tensors {
		switch n := t.Len(); {
		case n == 0:
		case p.dtype == tensor.BFloat16 || n < smallest:
			table = append(table, packedTensor{x: tensor.At(t), at: room, length: int64(n), firstChunk: uint32(p.chunks)})
			p.chunks += tensor.Ceil(n, packChunk)
			room += int64(tensor.Ceil(n, packLanes) * packLanes)
		default:
			p.spans = append(p.spans, nccl.Span{At: tensor.At(t), Count: n})
		}
	}
	if p.count = len(table); p.count == 0 {
		return p, nil
	}
	if p.chunks > math.MaxInt32 {
		return p, fmt.Errorf("reduce: a bucket of %d elements is more than a launch can have: %w", room, tensor.ErrShape)
	}
	device := c.device.Device
	list := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(table))), len(table)*int(unsafe.Sizeof(table[0])))
	if p.table, err = device.Alloc(len(list)); err != nil {
		return p, err
	}
	if p.buffer, err = device.Alloc(int(room) * p.dtype.Size()); err != nil {
		return p, err
	}
	p.spans = append(p.spans, nccl.Span{At: p.buffer, Count: int(room)})
	return p, c.device.Stream.Upload(p.table, list)
}

// unpack frees the device memory of a bucket.
func (c *CUDA) unpack(p *packed) error {
	return errors.Join(c.device.Device.Free(p.buffer), c.device.Device.Free(p.table))
}

// Directions of move.
type direction bool

const (
	into  direction = true
	outOf direction = false
)

// move enqueues copying the tensors of a bucket into its buffer, or out of it.
func (c *CUDA) move(s *cuda.Stream, p *packed, to direction) error {
	if p.chunks == 0 {
		return nil
	}
	grid, block, count := cuda.Dim3{X: p.chunks}, cuda.Dim3{X: packThreads}, int32(p.count)
	if to == into {
		a := packArguments{tensors: p.table, count: count, buffer: p.buffer}
		return c.kernels.pack.Launch(s, p.dtype, grid, block, a)
	}
	a := unpackArguments{tensors: p.table, count: count, buffer: p.buffer}
	return c.kernels.unpack.Launch(s, p.dtype, grid, block, a)
}
