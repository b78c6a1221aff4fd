//go:build cuda

package cuda

// #cgo noescape nmn_launch
// #cgo nocallback nmn_launch
// #include "layer.h"
import "C"

import (
	"fmt"
	"math"
	"time"

	"gorgonia.org/cu"
)

// Dim3 is the size of a grid, in blocks, or of a block, in threads. 0 in Y and Z means 1.
type Dim3 struct{ X, Y, Z int }

// Arg is an argument of a kernel: up to 8 bytes, in the low bytes of the word.
type Arg uint64

// Arguments of the C types that kernels take.
func Pointer(v Address) Arg    { return Arg(v) }
func Int32(v int32) Arg        { return Arg(uint32(v)) }
func Uint32(v uint32) Arg      { return Arg(v) }
func Int64(v int64) Arg        { return Arg(v) }
func Float32(v float32) Arg    { return Arg(math.Float32bits(v)) }
func Float64(v float64) Arg    { return Arg(math.Float64bits(v)) }
func BFloat16(bits uint16) Arg { return Arg(bits) }

// maxArguments is the number of arguments of a launch that does not allocate.
const maxArguments = C.NMN_ARGUMENTS

// Launch enqueues a kernel with shared bytes of dynamic shared memory. The arguments must match the kernel's
// signature, in its order: the driver cannot check them.
func (s *Stream) Launch(f *Function, grid, block Dim3, shared int, args ...Arg) error {
	if len(args) > maxArguments {
		return fmt.Errorf("cuda: launch %s: %d arguments, at most %d are supported", f.name, len(args), maxArguments)
	}
	var words [maxArguments]C.uint64_t
	for i, a := range args {
		words[i] = C.uint64_t(a)
	}
	grid, block = grid.filled(), block.filled()
	blocks, threads := grid.numbers(), block.numbers()
	began := time.Time{}
	if s.device.options.SyncLaunches {
		began = time.Now()
	}
	err := s.device.call("launch", f.name, func() error {
		return result(C.nmn_launch(rawOf(&f.function), &blocks[0], &threads[0], C.uint(shared), rawOf(&s.stream), &words[0],
			C.int(len(args))))
	})
	if err != nil {
		return fmt.Errorf("cuda: %v blocks of %v threads with %d bytes of shared memory: %w", grid, block, shared, err)
	}
	return s.Launched(f.name, began)
}

func (d Dim3) filled() Dim3 { return Dim3{d.X, max(d.Y, 1), max(d.Z, 1)} }

func (d Dim3) numbers() [3]C.uint { return [3]C.uint{C.uint(d.X), C.uint(d.Y), C.uint(d.Z)} }

// Launched notes work that was enqueued on the stream, by Launch or by a library, under the name that
// a fault is to be reported with. Under SyncLaunches it waits for the work, which was begun at began.
func (s *Stream) Launched(name string, began time.Time) error {
	if s.capturing != nil {
		s.capturing.launches = append(s.capturing.launches, name)
		return nil
	}
	mark, marked := s.launches.add(name)
	if !s.device.options.SyncLaunches {
		if marked {
			return s.mark(mark)
		}
		return nil
	}
	if err := s.Sync(); err != nil {
		return err
	}
	if s.device.options.Trace != nil {
		s.device.options.Trace(name, time.Since(began))
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
