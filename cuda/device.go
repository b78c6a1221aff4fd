//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"sync"

	"gorgonia.org/cu"
)

// minimumCapability is the oldest compute capability that the kernels are compiled for, as
// major·10 + minor.
const minimumCapability = 75

// Options choose how a device reports.
type Options struct {
	// SyncLaunches waits for every launch: a fault is then noticed by the launch that caused it. Graphs should
	// not be used with it.
	SyncLaunches bool
}

// Info describes a device.
type Info struct {
	Ordinal         int
	Name            string // such as "NVIDIA H200"
	Major, Minor    int    // compute capability
	Multiprocessors int
	Memory          int // bytes
	// memory bandwidth from its clock and width, bytes in a microsecond; 0 if the driver reports neither
	Bandwidth float64
	Driver    int // version of CUDA that the driver speaks, major·1000 + minor·10
}

// String describes the device for logs and tables.
func (i Info) String() string {
	return fmt.Sprintf("cuda:%d %s, sm_%d%d, %s, driver for CUDA %s",
		i.Ordinal, i.Name, i.Major, i.Minor, formatBytes(i.Memory), formatVersion(i.Driver))
}

// Device is an open device with its primary context and one stream for computing.
type Device struct {
	info    Info
	device  cu.Device
	context cu.CUContext
	options Options
	compute *Stream

	mu     sync.Mutex // guards the fields below
	memory map[Address]int
	held   int // bytes, the sum of memory
	most   int // the largest held so far
	owned  []owned
	failed error // the first fault, or the loss of the device; every later call returns it
	closed bool
}

// owned is an object that a device frees when it is closed.
type owned interface{ release() error }

// Open opens the device of a number. The error wraps ErrNoDriver, ErrOldDriver, ErrNoDevice or
// ErrArchitecture if one of them is the cause.
func Open(ordinal int, options Options) (*Device, error) {
	count, err := Available()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= count {
		return nil, fmt.Errorf("cuda: device %d: the driver sees %d, numbered from 0: %w", ordinal, count, ErrNoDevice)
	}
	d := &Device{options: options, memory: map[Address]int{}}
	if d.info, d.device, err = inspect(ordinal); err != nil {
		return nil, err
	}
	if err := waitAsleep(d.device); err != nil {
		return nil, newError(fmt.Sprintf("choose how to wait for device %d", ordinal), codeOf(err), nil)
	}
	if d.context, err = d.device.RetainPrimaryCtx(); err != nil {
		return nil, newError(fmt.Sprintf("open device %d", ordinal), codeOf(err), nil)
	}
	if d.compute, err = d.NewStream("compute"); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// waitAsleep lets threads that wait for the device sleep until it wakes them. By default they would poll.
// That takes a whole core, which decoders of pictures can use, for the 10 to 20 microseconds that waking
// takes, once in a step. It changes neither a context that another library has opened before, nor flags that
// it has set.
func waitAsleep(device cu.Device) error {
	flags, active, err := device.PrimaryCtxState()
	if err == nil && active == 0 && flags&cu.SchedMask == cu.SchedAuto {
		err = device.SetPrimaryCtxFlags(flags | cu.SchedBlockingSync)
	}
	if err == cu.NotSupported { // an old driver: its waits are busy
		return nil
	}
	return err
}

// inspect reads the values of Info and checks the architecture.
func inspect(ordinal int) (i Info, device cu.Device, err error) {
	i.Ordinal, i.Driver = ordinal, cu.Version()
	if i.Driver < 0 {
		return i, device, errors.New("cuda: the driver does not report its version")
	}
	number := func(a cu.DeviceAttribute, to *int) {
		if err == nil {
			*to, err = device.Attribute(a)
		}
	}
	if device, err = cu.GetDevice(ordinal); err == nil {
		i.Name, err = device.Name()
	}
	number(cu.ComputeCapabilityMajor, &i.Major)
	number(cu.ComputeCapabilityMinor, &i.Minor)
	number(cu.MultiprocessorCount, &i.Multiprocessors)
	if err == nil {
		var bytes int64
		bytes, err = device.TotalMem()
		i.Memory = int(bytes)
	}
	var clock, width int // in kHz, with two transfers per tick; in bits
	number(cu.MemoryClockRate, &clock)
	number(cu.GlobalMemoryBusWidth, &width)
	i.Bandwidth = 2 * float64(clock) * 1e3 * float64(width) / 8 / 1e6
	switch {
	case err != nil:
		return i, device, newError(fmt.Sprintf("inspect device %d", ordinal), codeOf(err), nil)
	case i.Major*10+i.Minor < minimumCapability:
		return i, device, fmt.Errorf("cuda: device %d, %s, has compute capability %d.%d, this program needs %d.%d: %w",
			ordinal, i.Name, i.Major, i.Minor, minimumCapability/10, minimumCapability%10, ErrArchitecture)
	}
	return i, device, nil
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Options returns the options that the device was opened with.
func (d *Device) Options() Options { return d.options }

// Compute is the device's own stream, on which Alloc zeroes memory.
func (d *Device) Compute() *Stream { return d.compute }

// Sync waits for the work of all streams. A fault of any of it is a FaultError.
func (d *Device) Sync() error {
	if err := d.call("wait for the device", "", cu.Synchronize); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.owned {
		if s, ok := o.(*Stream); ok {
			s.launches.settle()
		}
	}
	return nil
}

// Close waits for all work and frees everything that came from the device. Closing twice is harmless.
// After a fault, which was reported before, it returns nil.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	children, memory, failed := d.owned, d.memory, d.failed
	d.owned, d.memory, d.held = nil, nil, 0
	d.mu.Unlock()

	errs := []error{d.finish("wait for the device", "", cu.Synchronize)}
	for i := len(children) - 1; i >= 0; i-- {
		errs = append(errs, d.finish("free at the end", "", children[i].release))
	}
	for at := range memory {
		errs = append(errs, d.finish("free memory at the end", "", func() error { return cu.MemFree(cu.DevicePtr(at)) }))
	}
	if err := d.device.ReleasePrimaryCtx(); err != nil {
		errs = append(errs, newError("close the device", codeOf(err), nil))
	}
	if failed != nil {
		return nil
	}
	return errors.Join(errs...)
}
