//go:build cuda

// Package fakecudnn is a cuDNN that computes nothing, for tests of its callers. It fails any call on demand,
// counts objects that are not destroyed and records runs.
package fakecudnn

import (
	_ "embed"
	"errors"
	"os"
	"strings"

	"nmn/cuda/internal/fakedriver"
)

//go:embed source/cudnn.c
var source []byte

// ErrHeader is returned by Build if CGO_CFLAGS does not give the folder of cudnn.h.
var ErrHeader = errors.New("CGO_CFLAGS does not give the folder of cudnn.h")

// Build compiles the library into a folder by the C compiler, with the flags of CGO_CFLAGS, which lead
// to cudnn.h, and returns its path.
func Build(folder string) (path string, err error) {
	flags := os.Getenv("CGO_CFLAGS")
	if flags == "" {
		return "", ErrHeader
	}
	return fakedriver.Compile(folder, "libcudnn.so.9", source, strings.Fields(flags)...)
}

// Library controls the library that was loaded from a path.
type Library struct{ *fakedriver.Library }

// Load opens the control functions. The library itself is opened by package cudnn, from the same path.
func Load(path string) (*Library, error) {
	library, err := fakedriver.Open(path, false)
	return &Library{library}, err
}

// Reset forgets everything.
func (l *Library) Reset() { l.Set("fake_reset", 0, 0) }

// Fail makes call number at since Reset, from 1, return a status and do nothing.
func (l *Library) Fail(at, status int) { l.Set("fake_fail", at, status) }

// NoEngines makes the heuristics return no engine from now on, or those after Reset.
func (l *Library) NoEngines(none bool) {
	number := 0
	if none {
		number = 1
	}
	l.Set("fake_no_engines", number, 0)
}

// Compiled makes the heuristics return this number of further engines, whose plans are compiled: 20 and those
// after it.
func (l *Library) Compiled(engines int) { l.Set("fake_compiled", engines, 0) }

// CompiledByHandle is Compiled for handles alone: a device that is only described has none of them.
func (l *Library) CompiledByHandle(engines int) { l.Set("fake_compiled", engines, 1) }

// NoTexts makes plans have no text, and prevents making plans from texts.
func (l *Library) NoTexts() { l.Set("fake_no_texts", 1, 0) }

// Calls is the number of calls since Reset that could have failed.
func (l *Library) Calls() int { return l.Number("fake_calls") }

// Live is the number of handles and descriptors that have not been destroyed.
func (l *Library) Live() int { return l.Number("fake_live") }

// Log lists the runs, a line each.
func (l *Library) Log() string { return l.Text("fake_log") }
