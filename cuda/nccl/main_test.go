//go:build cuda

package nccl_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/cuda"
	"nmn/cuda/nccl"
	"nmn/tools/emulator"
)

// emulated is the reason why there is no emulator, or nil if there is one.
var emulated error

// realVariable has the tests take the library of the toolkit instead of the emulator's.
const realVariable = "NMN_TEST_REAL_NCCL"

// TestMain replaces the driver and NCCL by the host emulator: ranks are goroutines, each with a device.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "emulator")
	if err == nil && os.Getenv(realVariable) == "" && !onCard() {
		emulated = emulator.Install(folder, folder, cuda.DriverVariable, nccl.LibraryVariable)
	}
	code := m.Run()
	if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func needEmulator(t *testing.T) {
	t.Helper()
	if errors.Is(emulated, emulator.ErrCompiler) {
		t.Skipf("collectives were not tested: %v", emulated)
	}
	if emulated != nil {
		t.Fatal(emulated)
	}
	if os.Getenv(realVariable) != "" || onCard() {
		t.Skip("the real library is tested")
	}
}

// rankOf is the state of a rank's goroutine.
type rankOf struct {
	*nccl.Comm
	device *cuda.Device
}

// eachRank runs f for each of the ranks of a clique, each with its own device, and returns their errors.
func eachRank(t *testing.T, ranks int, o nccl.Options, f func(r rankOf) error) []error {
	t.Helper()
	needEmulator(t)
	id, err := nccl.NewID()
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, ranks)
	var all sync.WaitGroup
	for number := range ranks {
		all.Go(func() {
			o := o
			o.Name = fmt.Sprintf("host:%d", number)
			errs[number] = onDevice(id, number, ranks, o, f)
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Minute):
		t.Fatal("the ranks hang")
	}
	return errs
}

func onDevice(id nccl.ID, number, ranks int, o nccl.Options, f func(r rankOf) error) error {
	return onCardOf(0, id, number, ranks, o, f)
}

func onCardOf(card int, id nccl.ID, number, ranks int, o nccl.Options, f func(r rankOf) error) error {
	device, err := cuda.Open(card, cuda.Options{})
	if err != nil {
		return err
	}
	comm, err := nccl.Join(device, id, number, ranks, o)
	if err == nil {
		err = f(rankOf{comm, device})
		err = errors.Join(err, comm.Close())
	}
	return errors.Join(err, device.Close())
}

// want fails if a rank has an error.
func want(t *testing.T, errs []error) {
	t.Helper()
	for number, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", number, err)
		}
	}
}

// calls counts the calls that the emulator has logged, by their names.
func calls(t *testing.T, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, name := range strings.Fields(string(text)) {
		count[name]++
	}
	return count
}
