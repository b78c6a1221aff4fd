//go:build cuda

// Package fakedriver is a CUDA driver without a device, for tests of its callers. It delays work as long as
// it may, fails any call on demand, and counts memory that is not freed.
package fakedriver

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
// typedef struct { int version, devices, capability, init, marks, eager; unsigned flags; size_t memory; } fake_config;
// static void call_reset(void *f, fake_config c) { ((void (*)(fake_config))f)(c); }
// static void call_set(void *f, int at, int code) { ((void (*)(int, int))f)(at, code); }
// static void call_time(void *f, float ms) { ((void (*)(float))f)(ms); }
// static int call_number(void *f) { return ((int (*)(void))f)(); }
// static const char *call_text(void *f) { return ((const char *(*)(void))f)(); }
// static int call_live(void *f, char *out, size_t room) { return ((int (*)(char *, size_t))f)(out, room); }
import "C"

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unsafe"
)

//go:embed source/driver.c
var source []byte

// Build compiles the driver into a folder by the C compiler and returns its path.
func Build(folder string) (path string, err error) {
	return Compile(folder, "libcuda.so.1", source, "-O1", "-g", "-Wextra", "-Wl,-soname,libcuda.so.1")
}

// Compile compiles the source of a library in C into a folder, under a name, and returns its path.
func Compile(folder, name string, source []byte, flags ...string) (path string, err error) {
	path = filepath.Join(folder, name)
	if err := os.WriteFile(path+".c", source, 0o666); err != nil {
		return "", err
	}
	command := append(strings.Fields(cmp.Or(os.Getenv("CC"), "cc")), flags...)
	command = append(command, "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", path, path+".c")
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return path, nil
}

// Library is a loaded library, whose functions control it.
type Library struct{ handle unsafe.Pointer }

// Open loads the library of a path. If it is global, libraries that are loaded later find its functions.
func Open(path string, global bool) (*Library, error) {
	mode := C.int(C.RTLD_NOW | C.RTLD_LOCAL)
	if global {
		mode = C.RTLD_NOW | C.RTLD_GLOBAL
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	handle := C.dlopen(name, mode)
	if handle == nil {
		return nil, fmt.Errorf("cannot open %s: %s", path, C.GoString(C.dlerror()))
	}
	return &Library{handle}, nil
}

func (l *Library) symbol(name string) unsafe.Pointer {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.dlsym(l.handle, cname)
}

// Set calls a function of two numbers.
func (l *Library) Set(name string, a, b int) { C.call_set(l.symbol(name), C.int(a), C.int(b)) }

// Number calls a function that returns a number.
func (l *Library) Number(name string) int { return int(C.call_number(l.symbol(name))) }

// Text calls a function that returns a text.
func (l *Library) Text(name string) string { return C.GoString(C.call_text(l.symbol(name))) }

// Config is a host as the driver shows it.
type Config struct {
	Version    int // of CUDA, such as 13000
	Devices    int
	Capability int  // major·10 + minor
	Init       int  // result of cuInit
	NoMarks    bool // writing values to memory from a stream is not supported
	Eager      bool // work runs when it is enqueued
	Flags      int  // of the primary context before it is opened, as another library has set them
	Memory     int  // bytes of a device
}

// H200 is a host with one device and little memory.
var H200 = Config{Version: 13000, Devices: 1, Capability: 90, Memory: 1 << 20}

// Driver controls the driver that was loaded from a path.
type Driver struct{ *Library }

// Load opens the control functions. The driver itself is opened by package cuda, from the same path.
func Load(path string) (*Driver, error) {
	library, err := Open(path, true)
	return &Driver{library}, err
}

// Reset discards all state and makes a new host.
func (d *Driver) Reset(c Config) {
	number := func(b bool) C.int {
		if b {
			return 1
		}
		return 0
	}
	C.call_reset(d.symbol("fake_reset"), C.fake_config{
		version: C.int(c.Version), devices: C.int(c.Devices), capability: C.int(c.Capability), init: C.int(c.Init),
		marks: number(!c.NoMarks), eager: number(c.Eager), flags: C.uint(c.Flags), memory: C.size_t(c.Memory),
	})
}

// Fail makes call number at since Reset, from 1, return a code and do nothing.
func (d *Driver) Fail(at, code int) { d.Set("fake_fail", at, code) }

// Fault makes launch number at since Reset, from 1, end with a code when it runs.
func (d *Driver) Fault(at, code int) { d.Set("fake_fault", at, code) }

// Times sets the results of the next measurements between events, in milliseconds, at most 64 since Reset.
// Later ones give 1.5.
func (d *Driver) Times(milliseconds ...float32) {
	for _, ms := range milliseconds {
		C.call_time(d.symbol("fake_time"), C.float(ms))
	}
}

// Calls is the number of calls since Reset.
func (d *Driver) Calls() int { return d.Number("fake_calls") }

// Log lists the calls: a line for each call with its place in the order of work.
func (d *Driver) Log() []string {
	return strings.Split(strings.TrimSuffix(d.Text("fake_log"), "\n"), "\n")
}

// Live names memory and objects that have not been freed, empty for none.
func (d *Driver) Live() string {
	var names [1024]C.char
	C.call_live(d.symbol("fake_live"), &names[0], C.size_t(len(names)))
	return strings.TrimSpace(C.GoString(&names[0]))
}
