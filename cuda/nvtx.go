//go:build cuda

package cuda

// #include <stdlib.h>
// #include "nvtx.h"
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// profilerVariable is the environment variable in which a profiler such as Nsight Systems names its library
// to programs that speak NVTX 3.
const profilerVariable = "NVTX_INJECTION64_PATH"

// Sections name consecutive stretches of the host's work for a profiler, as ranges of NVTX. They serve one
// goroutine. Nil Sections do nothing.
type Sections struct {
	open  bool
	names map[string]*C.char // names that the profiler may keep; never freed
}

// OpenSections opens NVTX for the profiler that has started this program. It returns nil if there is none.
func OpenSections() (*Sections, error) {
	if os.Getenv(profilerVariable) == "" {
		return nil, nil
	}
	if err := profiler(); err != nil {
		return nil, err
	}
	return &Sections{names: map[string]*C.char{}}, nil
}

// profiler opens the profiler's library once for the process: it has one set of tables.
var profiler = sync.OnceValue(func() error { return openProfiler(os.Getenv(profilerVariable)) })

func openProfiler(path string) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if why := C.nmn_nvtx_open(cpath); why != nil {
		return fmt.Errorf("cuda: cannot open the profiler's library, which %s names: %s", profilerVariable, C.GoString(why))
	}
	return nil
}

// Begin ends the current section and begins another. An empty name begins none. Ranges belong to a thread, so
// the goroutine must stay on its thread while a section is open.
func (s *Sections) Begin(name string) {
	if s == nil {
		return
	}
	if s.open {
		C.nmn_nvtx_pop()
		runtime.UnlockOSThread()
	}
	if s.open = name != ""; !s.open {
		return
	}
	runtime.LockOSThread()
	text, known := s.names[name]
	if !known {
		text = C.CString(name)
		s.names[name] = text
	}
	C.nmn_nvtx_push(text)
}
