//go:build cuda

package cuda

import "gorgonia.org/cu"

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
