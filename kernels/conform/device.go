package conform

import (
	"cmp"
	"os"
	"testing"

	"nmn/kernels"
)

// DeviceEnv names the environment variable that tells which device OpenDevice opens, as --device has
// it.
const DeviceEnv = "NMN_TEST_DEVICE"

// OpenDevice opens the device that DeviceEnv names, by default the host, and closes it when the test
// ends: the golden numbers of whole nets hold on all of them.
func OpenDevice(t testing.TB, threads int) kernels.Backend {
	t.Helper()
	backend, note, err := kernels.Open(kernels.Config{Device: cmp.Or(os.Getenv(DeviceEnv), "cpu"), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(backend.Name(), note)
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	return backend
}
