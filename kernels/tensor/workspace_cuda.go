//go:build cuda

package tensor

import (
	"fmt"

	"nmn/cuda"
)

// Workspace is device memory that an operation keeps from call to call. It grows to the need of the largest
// call. Memory that it has outgrown is freed only when the device is closed, because a captured graph may use
// it.
type Workspace struct {
	at    cuda.Address
	bytes int
}

// Reserve returns the memory, at least this number of bytes. It is zeroed when it is new. Afterwards it holds
// the data of earlier calls. It cannot grow while a graph is captured: run the work once before.
func (w *Workspace) Reserve(c *CUDA, bytes int) (cuda.Address, error) {
	if bytes <= w.bytes {
		return w.at, nil
	}
	if c.Stream.Capturing() {
		return 0, fmt.Errorf("tensor: a workspace has %d bytes and needs %d while a graph is captured: run the work once "+
			"before", w.bytes, bytes)
	}
	at, err := c.Device.Alloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("tensor: workspace: %w", err)
	}
	w.at, w.bytes = at, bytes
	return at, nil
}

// OnDevice checks that tensors have a type and are in device memory. nil tensors and empty ones are skipped.
func OnDevice(operation string, dtype DType, tensors ...*Tensor) error {
	for _, t := range tensors {
		if t != nil && t.size > 0 && (t.address == 0 || t.dtype != dtype) {
			return Misfit(operation, "%s is not %s in device memory", t, dtype)
		}
	}
	return nil
}

// Computing checks that tensors are in device memory and have one computing type, float32 or bfloat16, and
// returns it. nil tensors and empty ones are skipped.
func Computing(operation string, tensors ...*Tensor) (DType, error) {
	for _, t := range tensors {
		if t != nil && t.dtype == BFloat16 {
			return BFloat16, OnDevice(operation, BFloat16, tensors...)
		}
	}
	return Float32, OnDevice(operation, Float32, tensors...)
}

// At is the device address of a tensor, 0 for nil.
func At(t *Tensor) cuda.Address {
	if t == nil {
		return 0
	}
	return cuda.Address(t.address)
}

// Flag is a condition as kernels take it.
func Flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// PowerOfTwo is the smallest power of two that is at least n, within lo and hi, themselves such powers.
func PowerOfTwo(n, lo, hi int) int {
	p := lo
	for p < n && p < hi {
		p *= 2
	}
	return p
}

// Cover is a grid for count independent groups of elements in blocks of this number of threads. Each thread
// takes batch groups. It never changes a result.
func Cover(count, threads, batch int) cuda.Dim3 {
	return cuda.Dim3{X: coverBlocks(count, threads, batch)}
}

// Spread is a grid for count independent groups of elements in blocks of this number of threads. Each thread
// takes several groups if there are many. It never changes a result.
func Spread(count, threads int) cuda.Dim3 {
	const most = 4096 // blocks: several for each multiprocessor of any card
	return cuda.Dim3{X: max(1, min(Ceil(count, threads), most))}
}
