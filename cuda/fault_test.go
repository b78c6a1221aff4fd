//go:build cuda

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	"nmn/cuda/internal/fakedriver"
)

// three launches kernels a, b and c, of which b will fault.
func three(t *testing.T, d *Device) error {
	t.Helper()
	kernels := []*Function{kernel(t, d, "a"), kernel(t, d, "b"), kernel(t, d, "c")}
	fake.Fault(2, 700)
	var errs []error
	for _, f := range kernels {
		errs = append(errs, d.Compute().Launch(f, Dim3{X: 1}, Dim3{X: 32}, 0))
	}
	return errors.Join(append(errs, d.Sync())...)
}

func TestFault_NamesTheLaunchThatCausedIt(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	err := three(t, d)
	var fault *FaultError
	if !errors.As(err, &fault) || !errors.Is(err, ErrFault) {
		t.Fatalf("error %v, want a FaultError", err)
	}
	if got := strings.Join(fault.Recent, " "); got != "test.b test.c" {
		t.Errorf("not known to have ended: %s, want b and c", got)
	}
	if fault.Launch != "test.b" || fault.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" {
		t.Errorf("%+v, want launch test.b", fault)
	}
	if _, err := d.Alloc(8); !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), "test.b") {
		t.Errorf("after the fault Alloc gives %v, want the fault", err)
	}
}

func TestFault_WithoutMarksNamesThoseInQuestion(t *testing.T) {
	c := fakedriver.H200
	c.NoMarks = true
	d := open(t, c, Options{})
	must(t, d.Compute().Launch(kernel(t, d, "ended"), Dim3{X: 1}, Dim3{X: 32}, 0))
	must(t, d.Sync())
	fake.Fault(3, 700)
	for _, name := range []string{"a", "b", "c"} {
		must(t, d.Compute().Launch(kernel(t, d, name), Dim3{X: 1}, Dim3{X: 32}, 0))
	}
	err := d.Sync()
	var fault *FaultError
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want a FaultError", err)
	}
	if got := strings.Join(fault.Recent, " "); fault.Launch != "" || got != "test.a test.b test.c" {
		t.Errorf("%+v, want the three launches since the last Sync", fault)
	}
}

func TestFault_OfNoLaunchBlamesNone(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	must(t, d.Compute().Launch(kernel(t, d, "ended"), Dim3{X: 1}, Dim3{X: 32}, 0))
	a, err := d.Alloc(64)
	must(t, err)
	must(t, d.Compute().Download(make([]byte, 64), a)) // all work has ended, and the marks show it
	fake.Fail(fake.Calls()+2, 700)
	var fault *FaultError
	if err := d.Sync(); !errors.As(err, &fault) || fault.Launch != "" || len(fault.Recent) != 0 || !strings.Contains(err.Error(), "behind all launches") {
		t.Errorf("error %v, want one that blames no launch", err)
	}
}

func TestSyncLaunches_StopAtTheFault(t *testing.T) {
	var traced []string
	d := open(t, fakedriver.H200, Options{SyncLaunches: true, Trace: func(launch string, took time.Duration) {
		if took <= 0 {
			t.Errorf("%s took %v", launch, took)
		}
		traced = append(traced, launch)
	}})
	err := three(t, d)
	var fault *FaultError
	if !errors.As(err, &fault) || fault.Launch != "test.b" {
		t.Errorf("error %v, want a FaultError of test.b", err)
	}
	if len(traced) != 1 || traced[0] != "test.a" {
		t.Errorf("traced %v, want test.a alone", traced)
	}
}

func TestDeviceLost_EndsEveryCall(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	fake.Fail(fake.Calls()+2, 214)
	if err := d.Sync(); !errors.Is(err, ErrDeviceLost) || !strings.Contains(err.Error(), "ECC_UNCORRECTABLE") {
		t.Errorf("error %v, want ErrDeviceLost and its reason", err)
	}
	if _, err := d.NewEvent(false); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("the next call gives %v, want ErrDeviceLost", err)
	}
}

func TestOutOfMemoryOfOtherCalls_DoesNotLoseTheDevice(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	fake.Fail(fake.Calls()+2, 2)
	if _, err := d.AllocHost(1 << 10); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("error %v, want ErrOutOfMemory", err)
	}
	must(t, d.Sync())
}
