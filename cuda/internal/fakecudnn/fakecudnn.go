//go:build cuda

// Package fakecudnn is a cuDNN that computes nothing, for tests of its callers. It fails any call on demand,
// counts objects that are not destroyed and records runs.
package fakecudnn

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
// static void call_reset(void *f) { ((void (*)(void))f)(); }
// static void call_set(void *f, int at, int code) { ((void (*)(int, int))f)(at, code); }
// static int call_number(void *f) { return ((int (*)(void))f)(); }
// static const char *call_text(void *f) { return ((const char *(*)(void))f)(); }
import "C"

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unsafe"
)

//go:embed source/cudnn.c
var source []byte

// ErrHeader is returned by Build if CGO_CFLAGS does not give the folder of cudnn.h.
var ErrHeader = errors.New("CGO_CFLAGS does not give the folder of cudnn.h")

// Build compiles the library into a folder by the C compiler, with the flags of CGO_CFLAGS, which lead
// to cudnn.h, and returns its path.
func Build(folder string) (path string, err error) {
	if os.Getenv("CGO_CFLAGS") == "" {
		return "", ErrHeader
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	c, path := filepath.Join(folder, "cudnn.c"), filepath.Join(folder, "libcudnn.so.9")
	if err := os.WriteFile(c, source, 0o666); err != nil {
		return "", err
	}
	command := append(strings.Fields(cc), strings.Fields(os.Getenv("CGO_CFLAGS"))...)
	command = append(command, "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", path, c)
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return path, nil
}

// Library controls the library that was loaded from a path.
type Library struct{ library unsafe.Pointer }

// Load opens the control functions. The library itself is opened by package cudnn, from the same path.
func Load(path string) (*Library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	library := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if library == nil {
		return nil, fmt.Errorf("cannot open %s: %s", path, C.GoString(C.dlerror()))
	}
	return &Library{library}, nil
}

func (l *Library) symbol(name string) unsafe.Pointer {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.dlsym(l.library, cname)
}

// Reset forgets everything.
func (l *Library) Reset() { C.call_reset(l.symbol("fake_reset")) }

// Fail makes call number at since Reset, from 1, return a status and do nothing.
func (l *Library) Fail(at, status int) { C.call_set(l.symbol("fake_fail"), C.int(at), C.int(status)) }

// NoEngines makes the heuristics return no engine from now on, or those after Reset.
func (l *Library) NoEngines(none bool) {
	number := C.int(0)
	if none {
		number = 1
	}
	C.call_set(l.symbol("fake_no_engines"), number, 0)
}

// Compiled makes the heuristics return this number of further engines, whose plans are compiled: 20 and those
// after it.
func (l *Library) Compiled(engines int) {
	C.call_set(l.symbol("fake_compiled"), C.int(engines), 0)
}

// CompiledByHandle is Compiled for handles alone: a device that is only described has none of them.
func (l *Library) CompiledByHandle(engines int) {
	C.call_set(l.symbol("fake_compiled"), C.int(engines), 1)
}

// NoTexts makes plans have no text, and prevents making plans from texts.
func (l *Library) NoTexts() { C.call_set(l.symbol("fake_no_texts"), 1, 0) }

// Calls is the number of calls since Reset that could have failed.
func (l *Library) Calls() int { return int(C.call_number(l.symbol("fake_calls"))) }

// Live is the number of handles and descriptors that have not been destroyed.
func (l *Library) Live() int { return int(C.call_number(l.symbol("fake_live"))) }

// Log lists the runs, a line each.
func (l *Library) Log() string { return C.GoString(C.call_text(l.symbol("fake_log"))) }
