//go:build cuda

package cuda

// #cgo noescape nmn_launch
// #cgo nocallback nmn_launch
// #include "layer.h"
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"

	"gorgonia.org/cu"
)

// Dim3 is the size of a grid, in blocks, or of a block, in threads. 0 in Y and Z means 1.
type Dim3 struct{ X, Y, Z int }

// maxArguments is the number of arguments that a kernel may have.
const maxArguments = C.NMN_ARGUMENTS

// Kernel is a kernel whose arguments are the fields of A, in the order of its signature: the driver cannot check them.
type Kernel[A any] struct {
	name      string // module.kernel
	function  cu.Function
	arguments []argument
}

// argument is the place of a field of 4 or 8 bytes.
type argument struct{ offset, size uintptr }

// Find finds the kernel in a module by its unmangled name.
func (k *Kernel[A]) Find(m *Module, name string) error {
	*k = Kernel[A]{name: m.name + "." + name}
	all := reflect.TypeFor[A]()
	if all.NumField() > maxArguments {
		return fmt.Errorf("cuda: kernel %s: %d arguments, at most %d are supported", k.name, all.NumField(), maxArguments)
	}
	for i := range all.NumField() {
		f := all.Field(i)
		if size := f.Type.Size(); size != 4 && size != 8 {
			return fmt.Errorf("cuda: kernel %s: argument %s has %d bytes, want 4 or 8", k.name, f.Name, size)
		}
		k.arguments = append(k.arguments, argument{f.Offset, f.Type.Size()})
	}
	return m.device.call("find the kernel", k.name, func() (err error) {
		k.function, err = m.module.Function(name)
		return err
	})
}

// Launch enqueues the kernel on a stream.
func (k *Kernel[A]) Launch(s *Stream, grid, block Dim3, a A) error {
	var words [maxArguments]C.uint64_t
	for i, at := range k.arguments {
		field := unsafe.Add(unsafe.Pointer(&a), at.offset)
		if at.size == 8 {
			words[i] = *(*C.uint64_t)(field)
		} else {
			words[i] = C.uint64_t(*(*uint32)(field))
		}
	}
	return s.launch(k.name, &k.function, grid, block, words[:len(k.arguments)])
}

// launch is Launch with the arguments in the low bytes of words.
func (s *Stream) launch(name string, function *cu.Function, grid, block Dim3, words []C.uint64_t) error {
	grid, block = grid.filled(), block.filled()
	blocks, threads := grid.numbers(), block.numbers()
	err := s.device.call("launch", name, func() error {
		return result(C.nmn_launch(rawOf(function), &blocks[0], &threads[0], rawOf(&s.stream), unsafe.SliceData(words),
			C.int(len(words))))
	})
	if err != nil {
		return fmt.Errorf("cuda: %v blocks of %v threads: %w", grid, block, err)
	}
	return s.Launched(name)
}

func (d Dim3) filled() Dim3 { return Dim3{d.X, max(d.Y, 1), max(d.Z, 1)} }

func (d Dim3) numbers() [3]C.uint { return [3]C.uint{C.uint(d.X), C.uint(d.Y), C.uint(d.Z)} }

// Launched notes work that was enqueued on the stream, by Launch or by a library, under the name that
// a fault is to be reported with. Under SyncLaunches it waits for the work.
func (s *Stream) Launched(name string) error {
	if s.capturing != nil {
		s.capturing.launches = append(s.capturing.launches, name)
		return nil
	}
	mark, marked := s.launches.add(name)
	switch {
	case s.device.options.SyncLaunches:
		return s.Sync()
	case marked:
		return s.mark(mark)
	}
	return nil
}

// mark enqueues writing the number of the latest launch to host memory, which shows the device's progress
// even after a fault. If a driver does not support it, it is not used again.
func (s *Stream) mark(number uint32) error {
	var unsupported bool
	err := s.device.call("mark a launch", "", func() error {
		err := s.stream.WriteValue32(cu.DevicePtr(s.launches.word()), number, 0)
		if err == cu.NotSupported || err == cu.InvalidValue {
			unsupported = true
			return nil
		}
		return err
	})
	if unsupported {
		s.launches.unmark()
	}
	return err
}

// Unmarked runs work that enqueues launches on the stream without marks after them, so that a timing measures
// the launches alone. A mark is a write to host memory, and the next launch waits for it. One mark follows
// the last of them. A fault among them names all candidates. Within a capture nothing is marked in any case.
func (s *Stream) Unmarked(work func() error) error {
	before, _ := s.launches.hush(true)
	err := work()
	_, missing := s.launches.hush(before)
	if err != nil || missing == 0 || s.capturing != nil {
		return err
	}
	return s.mark(missing)
}

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
