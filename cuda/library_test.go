//go:build cuda

package cuda

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"nmn/cuda/internal/fakedriver"
)

func TestOpenDriver_SaysWhatTheHostLacks(t *testing.T) {
	host(t, fakedriver.H200)
	old, broken, mismatch := fakedriver.H200, fakedriver.H200, fakedriver.H200
	old.Version = 12080
	broken.Init = 999
	mismatch.Init = 803
	for name, c := range map[string]struct {
		host fakedriver.Config
		want error
		text string
	}{
		"old driver":       {old, ErrOldDriver, "speaks CUDA 12.8, this program needs 13.0"},
		"driver fails":     {broken, nil, "initialize the driver: fake error 999"},
		"driver of two":    {mismatch, ErrOldDriver, "its kernel module and its library differ"},
		"nothing is amiss": {fakedriver.H200, nil, ""},
	} {
		fake.Reset(c.host)
		err := openDriver()
		switch {
		case c.text == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text)):
			t.Errorf("%s: error %v, want one with %q", name, err, c.text)
		case c.want != nil && !errors.Is(err, c.want):
			t.Errorf("%s: error %v does not wrap %v", name, err, c.want)
		}
	}
}

func TestOpenDriver_NoLibrary(t *testing.T) {
	t.Setenv(DriverVariable, filepath.Join(t.TempDir(), "libcuda.so.1"))
	if err := openDriver(); !errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("error %v, want ErrNoDriver and the linker's words", err)
	}
}

func TestOpen_RefusesWhatIsNotThereOrTooOld(t *testing.T) {
	none, turing, volta := fakedriver.H200, fakedriver.H200, fakedriver.H200
	none.Devices = 0
	turing.Capability = 75
	volta.Capability = 70
	for name, c := range map[string]struct {
		host    fakedriver.Config
		ordinal int
		want    error
		text    string
	}{
		"no device":       {none, 0, ErrNoDevice, "sees no device"},
		"too high":        {fakedriver.H200, 1, ErrNoDevice, "device 1: the driver sees 1"},
		"negative":        {fakedriver.H200, -1, ErrNoDevice, "device -1"},
		"old device":      {volta, 0, ErrArchitecture, "compute capability 7.0, this program needs 7.5"},
		"oldest that fit": {turing, 0, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			host(t, c.host)
			d, err := Open(c.ordinal, Options{})
			if c.want == nil {
				must(t, err)
				must(t, d.Close())
				return
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want one with %q that wraps %v", err, c.text, c.want)
			}
		})
	}
}

// The C layer takes handles from the first field of these types, which package cu does not export.
func TestHandles(t *testing.T) {
	for _, v := range []any{cu.Stream{}, cu.Function{}, cu.Event{}} {
		typ := reflect.TypeOf(v)
		if typ.NumField() != 1 || typ.Field(0).Type.Kind() != reflect.Pointer || typ.Size() != reflect.TypeFor[uintptr]().Size() {
			t.Errorf("%v is not one pointer", typ)
		}
	}
}
