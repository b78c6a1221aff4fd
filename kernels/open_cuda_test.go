//go:build cuda

package kernels

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"nmn/cuda"
)

// A process opens the driver once, so the case without one is tested in another process.
func TestOpen_WithoutADriver(t *testing.T) {
	const inner = "NMN_TEST_WITHOUT_DRIVER"
	if os.Getenv(inner) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestOpen_WithoutADriver$", "-test.v")
		command.Env = append(os.Environ(), inner+"=1", cuda.DriverVariable+"=/no/such/libcuda.so.1")
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestOpen_WithoutADriver") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, device := range []string{"", "auto"} {
		openHost(t, device, "computing on the CPU: cuda: cannot open libcuda")
	}
	for _, device := range []string{"cuda", "cuda:3"} {
		backend, _, err := Open(Config{Device: device})
		if !errors.Is(err, ErrUnsupported) || !errors.Is(err, cuda.ErrNoDriver) || backend != nil {
			t.Errorf("device %q: %v, %v", device, backend, err)
		}
	}
}
