//go:build cuda

package cuda

import (
	"errors"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
)

// three launches kernels a, b and c. b will fault.
func three(t *testing.T, d *Device) error {
	t.Helper()
	kernels := []*plainKernel{kernel(t, d, "a"), kernel(t, d, "b"), kernel(t, d, "c")}
	fake.Fault(2, 700)
	var errs []error
	for _, f := range kernels {
		errs = append(errs, f.launch(d.Compute()))
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
		t.Errorf("may not have ended: %s, want b and c", got)
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
	expect.OK(t, kernel(t, d, "ended").launch(d.Compute()))
	expect.OK(t, d.Sync())
	fake.Fault(3, 700)
	for _, name := range []string{"a", "b", "c"} {
		expect.OK(t, kernel(t, d, name).launch(d.Compute()))
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
	expect.OK(t, kernel(t, d, "ended").launch(d.Compute()))
	a, err := d.Alloc(64)
	expect.OK(t, err)
	expect.OK(t, d.Compute().Download(make([]byte, 64), a)) // all work has ended, and the marks show it
	fake.Fail(fake.Calls()+2, 700)
	var fault *FaultError
	if err := d.Sync(); !errors.As(err, &fault) || fault.Launch != "" || len(fault.Recent) != 0 ||
		!strings.Contains(err.Error(), "after all launches") {
		t.Errorf("error %v, want one that blames no launch", err)
	}
}

func TestSyncLaunches_StopAtTheFault(t *testing.T) {
	d := open(t, fakedriver.H200, Options{SyncLaunches: true})
	err := three(t, d)
	var fault *FaultError
	if !errors.As(err, &fault) || fault.Launch != "test.b" {
		t.Errorf("error %v, want a FaultError of test.b", err)
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
	expect.OK(t, d.Sync())
}

// unmarked launches a, then b and c without marks, then d. The one with number fault faults.
func unmarked(t *testing.T, d *Device, fault int) error {
	t.Helper()
	s := d.Compute()
	launch := func(name string) {
		t.Helper()
		expect.OK(t, kernel(t, d, name).launch(s))
	}
	fake.Fault(fault, 700)
	launch("a")
	expect.OK(t, s.Unmarked(func() error {
		launch("b")
		return s.Unmarked(func() error { launch("c"); return nil }) // within another it changes nothing
	}))
	launch("d")
	return s.Sync()
}

func TestUnmarked_FaultsAreThoseOfItsLaunches(t *testing.T) {
	for number, want := range []struct{ launch, recent string }{
		{"test.a", "test.a test.b test.c test.d"},
		{"", "test.b test.c test.d"},
		{"", "test.b test.c test.d"},
		{"test.d", "test.d"},
	} {
		d := open(t, fakedriver.H200, Options{})
		err := unmarked(t, d, number+1)
		var fault *FaultError
		if !errors.As(err, &fault) {
			t.Fatalf("error %v, want a FaultError", err)
		}
		if got := strings.Join(fault.Recent, " "); fault.Launch != want.launch || got != want.recent {
			t.Errorf("launch %d: %q of %s is named, want %q of %s", number+1, fault.Launch, got, want.launch, want.recent)
		}
		expect.OK(t, d.Close())
	}
}

// A launch takes two calls of the driver with its mark, and the context each time.
func TestUnmarked_MarksTheLastLaunchAlone(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	f, s := kernel(t, d, "a"), d.Compute()
	launch := func() error { return f.launch(s) }
	count := func(work func() error) int {
		before := fake.Calls()
		expect.OK(t, work())
		return fake.Calls() - before
	}
	three := func() error { return errors.Join(launch(), launch(), launch()) }
	if got, want := count(func() error { return s.Unmarked(three) }), count(three)-4; got != want {
		t.Errorf("%d calls of the driver for three launches without marks, want %d", got, want)
	}
	if got := count(func() error { return s.Unmarked(func() error { return nil }) }); got != 0 {
		t.Errorf("%d calls of the driver for no launch, want none", got)
	}
	expect.OK(t, s.Sync())
}
