//go:build cuda

package cuda

// #include "layer.h"
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Module is compiled kernels on a device.
type Module struct {
	device *Device
	name   string
	module cu.Module
}

// LoadModule loads a fatbin. Errors show the name before the names of its kernels. A fatbin without code that
// the device can run gives an error that wraps ErrArchitecture.
func (d *Device) LoadModule(name, fatbin string) (*Module, error) {
	m := &Module{device: d, name: name}
	err := d.call("load for "+d.info.Name+" the kernels of", name, func() (err error) {
		m.module, err = cu.LoadFatBinary(fatbin)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.own(m)
	return m, nil
}

// Close unloads the module. Its functions cannot be launched afterwards.
func (m *Module) Close() error { return m.device.discard("unload the kernels of", m.name, m) }

func (m *Module) release() error { return m.module.Unload() }

// Function is a kernel.
type Function struct {
	module   *Module
	name     string // module.kernel
	function cu.Function
}

// Function finds a kernel by its unmangled name.
func (m *Module) Function(kernel string) (*Function, error) {
	f := &Function{module: m, name: m.name + "." + kernel}
	err := m.device.call("find the kernel", f.name, func() (err error) {
		f.function, err = m.module.Function(kernel)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Name is the module's name and the kernel's, joined by a dot.
func (f *Function) Name() string { return f.name }

// AllowShared lets launches of the kernel ask for more than 48 KiB of dynamic shared memory, up to
// bytes.
func (f *Function) AllowShared(bytes int) error {
	return f.module.device.call(fmt.Sprintf("allow %d bytes of shared memory to", bytes), f.name, func() error {
		return result(C.nmn_function_allow_shared(unsafe.Pointer(rawOf(&f.function)), C.int(bytes)))
	})
}
