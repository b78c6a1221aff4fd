//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
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
				expect.OK(t, err)
				expect.OK(t, d.Close())
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
		if typ.NumField() != 1 || typ.Field(0).Type.Kind() != reflect.Pointer ||
			typ.Size() != reflect.TypeFor[uintptr]().Size() {
			t.Errorf("%v is not one pointer", typ)
		}
	}
}

// libraryOf compiles a libcuda with a version and a result of cuInit.
func libraryOf(t *testing.T, folder string, version, init int) string {
	t.Helper()
	expect.OK(t, os.MkdirAll(folder, 0o777))
	source, path := filepath.Join(folder, "libcuda.c"), filepath.Join(folder, "libcuda.so.1")
	code := fmt.Sprintf("int cuDriverGetVersion(int *v) { return *v = %d, 0; }\n"+
		"int cuInit(unsigned f) { (void)f; return %d; }\n", version, init)
	expect.OK(t, os.WriteFile(source, []byte(code), 0o666))
	cc := exec.Command("cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", path, source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Skipf("needs a C compiler: %v\n%s", err, out)
	}
	return path
}

func TestCompat_StandsInForADriverThatIsTooOld(t *testing.T) {
	host := t.TempDir()
	old := libraryOf(t, filepath.Join(host, "old"), 12040, 0)
	current := libraryOf(t, filepath.Join(host, "now"), 13010, 0)
	compat12 := libraryOf(t, filepath.Join(host, "cuda-12", "compat"), 12080, 0)
	compat13 := libraryOf(t, filepath.Join(host, "cuda-13", "compat"), 13000, 0)
	missing := filepath.Join(host, "missing.so")
	for name, c := range map[string]struct {
		own, compat []string
		want        string
	}{
		"the driver will do":          {[]string{current}, []string{compat13}, ""},
		"the driver is old":           {[]string{missing, old}, []string{compat12, compat13}, compat13},
		"the driver and compat":       {[]string{old}, []string{compat12}, ""},
		"no driver":                   {[]string{missing}, []string{compat13}, ""},
		"no compat":                   {[]string{old}, nil, ""},
		"the first driver is current": {[]string{current, old}, []string{compat13}, ""},
	} {
		if got, _ := newerThan(c.own, c.compat); got != c.want {
			t.Errorf("%s: %q is taken, want %q", name, got, c.want)
		}
	}
	t.Setenv("CUDA_HOME", filepath.Join(host, "cuda-13"))
	if found := compatLibraries(); len(found) == 0 || found[0] != compat13 {
		t.Errorf("found %q in CUDA_HOME, want %q first", found, compat13)
	}
}

// The process that runs a test has opened a driver. Another process opens a host's drivers.
func TestCompat_IsOpenedOrSaysWhyNot(t *testing.T) {
	if os.Getenv("NMN_TEST_COMPAT") != "" {
		fmt.Println("opened:", openDriver())
		return
	}
	host := t.TempDir()
	libraryOf(t, filepath.Join(host, "old"), 12040, 0)
	for name, c := range map[string]struct {
		init int
		said []string
	}{
		"a datacentre card": {0, []string{"opened: <nil>"}},
		"another card": {804, []string{"speaks CUDA 12.4, this program needs 13.0", "compat/libcuda.so.1",
			"install driver 580", ErrOldDriver.Error()}},
		"no card": {100, []string{ErrNoDevice.Error()}},
	} {
		libraryOf(t, filepath.Join(host, "cuda", "compat"), 13000, c.init)
		cmd := exec.Command(os.Args[0], "-test.run", "^TestCompat_IsOpenedOrSaysWhyNot$", "-test.v")
		cmd.Env = append(os.Environ(), "NMN_TEST_COMPAT=1", DriverVariable+"=", "CUDA_HOME="+filepath.Join(host, "cuda"),
			"CUDA_PATH=", "LD_LIBRARY_PATH="+filepath.Join(host, "old"))
		out, err := cmd.CombinedOutput()
		expect.OK(t, err)
		for _, said := range c.said {
			if !strings.Contains(string(out), said) {
				t.Errorf("%s: %s\nwant %q", name, out, said)
			}
		}
	}
}
