package train

import (
	"cmp"
	"os"
	"testing"

	"nmn/kernels"
)

// openDevice opens the device that NMN_TEST_DEVICE names, as --device has it, by default the host: the
// golden numbers of whole nets hold on all of them.
func openDevice(t testing.TB, threads int) kernels.Backend {
	t.Helper()
	backend, note, err := kernels.Open(kernels.Config{Device: cmp.Or(os.Getenv("NMN_TEST_DEVICE"), "cpu"), Threads: threads})
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
