//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Address is a place in the memory of a device; 0 is none.
type Address uintptr

// Alloc returns zeroed memory, aligned to 256 bytes, that lives until Free or Close. The zeroes are
// written on the stream Compute. Memory that does not fit gives an OutOfMemoryError. No bytes are
// address 0.
func (d *Device) Alloc(bytes int) (Address, error) {
	if bytes < 0 {
		return 0, fmt.Errorf("cuda: cannot allocate %d bytes", bytes)
	}
	if bytes == 0 {
		return 0, nil
	}
	var at cu.DevicePtr
	err := d.call("allocate memory", "", func() (err error) {
		at, err = cu.MemAlloc(int64(bytes))
		return err
	})
	if err != nil {
		return 0, d.explain(err, bytes)
	}
	d.mu.Lock()
	d.memory[Address(at)] = bytes
	d.held += bytes
	d.most = max(d.most, d.held)
	d.mu.Unlock()
	if err := d.compute.Zero(Address(at), bytes); err != nil {
		return 0, errors.Join(err, d.Free(Address(at)))
	}
	return Address(at), nil
}

// explain gives the error of an allocation the sizes that matter.
func (d *Device) explain(err error, bytes int) error {
	if !errors.Is(err, ErrOutOfMemory) {
		return err
	}
	full := &OutOfMemoryError{Asked: bytes, Held: d.Held(), Free: -1, Total: d.info.Memory}
	if free, _, err := d.MemInfo(); err == nil {
		full.Free = free
	}
	return full
}

// Free frees memory from Alloc. Work on it must have ended. Free waits for the device.
func (d *Device) Free(at Address) error {
	if at == 0 {
		return nil
	}
	d.mu.Lock()
	bytes, known := d.memory[at]
	delete(d.memory, at)
	d.held -= bytes
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil
	}
	if !known {
		return fmt.Errorf("cuda: free %#x: it is no memory of this device, or was freed before", at)
	}
	return d.giveBack("free memory", "", func() error { return cu.MemFree(cu.DevicePtr(at)) })
}

// Held is the memory, in bytes, that Alloc has given and Free not taken back.
func (d *Device) Held() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held
}

// MostHeld is the largest that Held has been.
func (d *Device) MostHeld() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

// MemInfo returns the bytes of the device that no process holds, and all that it has.
func (d *Device) MemInfo() (free, total int, err error) {
	err = d.call("ask for free memory", "", func() error {
		f, t, err := cu.MemInfo()
		free, total = int(f), int(t)
		return err
	})
	return free, total, err
}

// bytesOf is the memory of a slice as the driver takes it, nil for none.
func bytesOf(data []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(data)) }
