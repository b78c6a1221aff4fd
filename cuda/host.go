//go:build cuda

package cuda

// #include "layer.h"
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// HostBuffer is pinned host memory: the device copies from it while the host continues.
type HostBuffer struct {
	device *Device
	at     unsafe.Pointer
	bytes  []byte
}

// AllocHost allocates pinned host memory of at least one byte.
func (d *Device) AllocHost(bytes int) (*HostBuffer, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("cuda: cannot allocate %d bytes of pinned memory", bytes)
	}
	b := &HostBuffer{device: d}
	err := d.call("allocate pinned host memory:", formatBytes(bytes), func() error {
		return result(C.nmn_host_alloc(&b.at, C.size_t(bytes)))
	})
	if err != nil {
		return nil, err
	}
	b.bytes = unsafe.Slice((*byte)(b.at), bytes)
	d.own(b)
	return b, nil
}

// Bytes is the memory. It must not be used after Close.
func (b *HostBuffer) Bytes() []byte { return b.bytes }

// Close frees the memory. Copies from it must have ended.
func (b *HostBuffer) Close() error { return b.device.discard("free pinned host memory", "", b) }

func (b *HostBuffer) release() error {
	b.bytes = nil
	return cu.MemFreeHost(b.at)
}
