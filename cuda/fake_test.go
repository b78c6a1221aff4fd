//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
)

// fake is the driver of these tests. It is nil if it cannot be built, or if a real card is to be tested: one
// process opens one driver.
var fake *fakedriver.Driver

// onCard reports whether NMN_REQUIRE asks for tests on a real card.
func onCard() bool { return slices.Contains(strings.Split(os.Getenv("NMN_REQUIRE"), ","), "cuda") }

func TestMain(m *testing.M) {
	if onCard() || os.Getenv("NMN_TEST_COMPAT") != "" {
		os.Exit(m.Run())
	}
	folder, err := os.MkdirTemp("", "fakedriver")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	path, err := fakedriver.Build(folder)
	if err == nil {
		os.Setenv(DriverVariable, path)
		fake, err = fakedriver.Load(path)
	}
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Println("tests of the driver's calls are left out:", err)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// host starts a test on a host, whose driver must have nothing left to free when the test ends.
func host(t *testing.T, c fakedriver.Config) {
	t.Helper()
	if fake == nil {
		t.Skip("needs the fake driver: no C compiler, or NMN_REQUIRE asks for a card")
	}
	fake.Reset(c)
	t.Cleanup(func() {
		if live := fake.Live(); live != "" {
			t.Errorf("not freed: %s", live)
		}
	})
}

// open opens the device of a host and closes it when the test ends.
func open(t *testing.T, c fakedriver.Config, options Options) *Device {
	t.Helper()
	host(t, c)
	d, err := Open(0, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

// plainKernel is a kernel without arguments.
type plainKernel struct{ Kernel[struct{}] }

// launch enqueues the kernel on a block of 32 threads.
func (k *plainKernel) launch(s *Stream) error {
	return k.Launch(s, Dim3{X: 1}, Dim3{X: 32}, struct{}{})
}

// kernel loads a kernel of the fake driver, which takes every name.
func kernel(t *testing.T, d *Device, name string) *plainKernel {
	t.Helper()
	k := &plainKernel{}
	find(t, d, name, &k.Kernel)
	return k
}

// find loads a kernel with arguments.
func find[A any](t *testing.T, d *Device, name string, k *Kernel[A]) {
	t.Helper()
	m, err := d.LoadModule("test", "fake fatbin")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Find(m, name); err != nil {
		t.Fatal(err)
	}
}
