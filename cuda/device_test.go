//go:build cuda

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
)

func TestInfo_TellsTheDevice(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	want := Info{Name: "Fake 0", Major: 9, Minor: 0, Multiprocessors: 132, Memory: 1 << 20, Driver: 13000}
	if d.Info() != want {
		t.Errorf("%+v, want %+v", d.Info(), want)
	}
	if s := d.Info().String(); s != "cuda:0 Fake 0, sm_90, 1.0 MiB, driver for CUDA 13.0" {
		t.Errorf("String gives %q", s)
	}
}

func TestAlloc_ZeroesAndCopies(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	a, err := d.Alloc(1000)
	expect.OK(t, err)
	b, err := d.Alloc(1000)
	expect.OK(t, err)
	got, want := bytes.Repeat([]byte{7}, 1000), make([]byte, 1000)
	expect.OK(t, d.Compute().Download(got, b))
	if !bytes.Equal(got, want) {
		t.Error("fresh memory is not zero")
	}
	for i := range want {
		want[i] = byte(i)
	}
	source := bytes.Clone(want)
	expect.OK(t, d.Compute().Upload(a, source))
	clear(source) // allowed once Upload has returned
	expect.OK(t, d.Compute().Copy(b, a, 1000))
	expect.OK(t, d.Compute().Download(got, b))
	if !bytes.Equal(got, want) {
		t.Error("the bytes have changed on their way to the device, there and back")
	}
}

func TestAlloc_SaysWhatIsFree(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	held, err := d.Alloc(300 << 10)
	expect.OK(t, err)
	_, err = d.Alloc(900 << 10)
	var full *OutOfMemoryError
	if !errors.As(err, &full) || !errors.Is(err, ErrOutOfMemory) {
		t.Fatalf("error %v, want an OutOfMemoryError", err)
	}
	if want := (OutOfMemoryError{Asked: 900 << 10, Held: 300 << 10, Free: 724 << 10, Total: 1 << 20}); *full != want {
		t.Errorf("%+v, want %+v", *full, want)
	}
	if text := err.Error(); !strings.Contains(text, "900.0 KiB: 724.0 KiB of 1.0 MiB are free") {
		t.Errorf("%q does not show the sizes", text)
	}
	expect.OK(t, d.Free(held)) // a full device goes on
	again, err := d.Alloc(900 << 10)
	expect.OK(t, err)
	if d.Held() != 900<<10 {
		t.Errorf("%d bytes held, want %d", d.Held(), 900<<10)
	}
	expect.OK(t, d.Free(again))
}

func TestAlloc_BadSizesAndFrees(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	if _, err := d.Alloc(-1); err == nil {
		t.Error("-1 bytes were allocated")
	}
	nothing, err := d.Alloc(0)
	if expect.OK(t, err); nothing != 0 {
		t.Errorf("no bytes at %#x", nothing)
	}
	expect.OK(t, d.Free(nothing))
	a, err := d.Alloc(8)
	expect.OK(t, err)
	expect.OK(t, d.Free(a))
	if err := d.Free(a); err == nil {
		t.Error("freeing twice is no error")
	}
	if _, err := d.AllocHost(0); err == nil {
		t.Error("0 bytes of pinned memory were allocated")
	}
}

func TestClose_FreesEverything(t *testing.T) {
	host(t, fakedriver.H200) // its cleanup reports memory that was not freed
	d, err := Open(0, Options{})
	expect.OK(t, err)
	expect.OK(t, scenario(d))
	expect.OK(t, d.Close())
	expect.OK(t, d.Close())
	if _, err := d.Alloc(8); !errors.Is(err, ErrClosed) {
		t.Errorf("Alloc after Close gives %v, want ErrClosed", err)
	}
}

// scenario uses everything that a device offers and leaves it to Close to free it.
func scenario(d *Device) error {
	a, err := d.Alloc(4096)
	if err != nil {
		return err
	}
	b, err := d.Alloc(4096)
	if err != nil {
		return err
	}
	if err := d.Free(b); err != nil {
		return err
	}
	m, err := d.LoadModule("test", "fake fatbin")
	if err != nil {
		return err
	}
	var k plainKernel
	if err := k.Find(m, "first"); err != nil {
		return err
	}
	s := d.Compute()
	if err := k.launch(s); err != nil {
		return err
	}
	return errors.Join(scenarioOfCopies(d, a), scenarioOfEvents(d, a), scenarioOfGraphs(s, &k, a), d.Sync())
}

func scenarioOfCopies(d *Device, a Address) error {
	buffer, err := d.AllocHost(64)
	if err != nil {
		return err
	}
	done, err := d.NewWaitedEvent()
	if err != nil {
		return err
	}
	s := d.Compute()
	if err := s.Upload(a, make([]byte, 4096)); err != nil {
		return err
	}
	for s.aside.filled = asideBytes; s.aside.at == 0; { // the first slot is full
		if err := s.Upload(a, make([]byte, 16)); err != nil {
			return err
		}
	}
	return errors.Join(s.DownloadPinned(buffer, a, 64), s.Record(done), done.Sync())
}

func scenarioOfEvents(d *Device, a Address) error {
	before, err := d.NewEvent(true)
	if err != nil {
		return err
	}
	after, err := d.NewEvent(true)
	if err != nil {
		return err
	}
	r, err := d.NewRing(2, 1024)
	if err != nil {
		return err
	}
	s := d.Compute()
	if err := s.Record(before); err != nil {
		return err
	}
	done, err := r.Upload(a, before, make([]byte, 4096))
	if err != nil {
		return err
	}
	if err := errors.Join(s.Wait(done), s.Record(after), s.Download(make([]byte, 16), a)); err != nil {
		return err
	}
	took, err := before.Elapsed(after)
	if err == nil && took.Microseconds() != 1500 {
		err = fmt.Errorf("%v between the events, want 1.5ms", took)
	}
	return err
}

func scenarioOfGraphs(s *Stream, k *plainKernel, a Address) error {
	g, err := s.Capture("step", func() error { return errors.Join(s.Zero(a, 16), k.launch(s)) })
	if err != nil {
		return err
	}
	return errors.Join(g.Launch(s), g.Launch(s), s.Sync())
}

// Whichever call of the driver fails, and however: an error reports it, nothing panics, and everything is
// freed.
func TestEveryCall_MayFail(t *testing.T) {
	if fake == nil {
		t.Skip("needs the fake driver: no C compiler, or NMN_REQUIRE asks for a card")
	}
	attempt := func(at, code int) error {
		fake.Reset(fakedriver.H200)
		fake.Fail(at, code)
		d, err := Open(0, Options{})
		if err != nil {
			return err
		}
		return errors.Join(scenario(d), d.Close())
	}
	expect.OK(t, attempt(0, 0))
	calls := fake.Calls()
	for _, code := range []int{1, 2, 214, 700, 801, 999} {
		for n := 1; n <= calls; n++ {
			err := attempt(n, code)
			if err == nil && !tolerated(fake.Log()) {
				t.Errorf("call %d fails with %d and no error reports it; calls:\n%s", n, code, strings.Join(fake.Log(), "\n"))
			}
			if live := fake.Live(); live != "" {
				t.Errorf("call %d fails with %d: not freed: %s; error %v", n, code, live, err)
			}
		}
	}
	t.Logf("each of %d calls failed in turn, in six ways", calls)
}

// tolerated reports whether the failure in a log of calls needs no error: marks and sleeping waits are left
// out if the driver does not support them.
func tolerated(log []string) bool {
	text := strings.Join(log, "\n")
	return slices.ContainsFunc([]string{"cuStreamWriteValue32 fails with 1\n", "cuStreamWriteValue32 fails with 801\n",
		"cuDevicePrimaryCtxGetState fails with 801\n", "cuDevicePrimaryCtxSetFlags fails with 801\n"},
		func(failure string) bool { return strings.Contains(text, failure) })
}

func TestLaunch_PassesArgumentsOfAllTypes(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	type record struct {
		i int32
		f float32
		l int64
		d float64
		h uint16
	}
	at, err := d.Alloc(int(unsafe.Sizeof(record{})))
	expect.OK(t, err)
	type arguments struct {
		at Address
		i  int32
		f  float32
		l  int64
		d  float64
		h  uint32
	}
	var k Kernel[arguments]
	find(t, d, "arguments", &k)
	expect.OK(t, k.Launch(d.Compute(), Dim3{X: 1}, Dim3{X: 1}, arguments{at, -5, 1.5, -1 << 40, -2.25, 0x3fc0}))
	var got record
	expect.OK(t, d.Compute().Download(unsafe.Slice((*byte)(unsafe.Pointer(&got)), unsafe.Sizeof(got)), at))
	if want := (record{-5, 1.5, -1 << 40, -2.25, 0x3fc0}); got != want {
		t.Errorf("the kernel got %+v, want %+v", got, want)
	}
}

func TestLaunch_AllocatesNothing(t *testing.T) {
	c := fakedriver.H200
	c.Eager = true
	d := open(t, c, Options{})
	type arguments struct {
		x Address
		n int32
		f float32
	}
	var k Kernel[arguments]
	find(t, d, "first", &k)
	allocations := testing.AllocsPerRun(100, func() {
		if k.Launch(d.Compute(), Dim3{X: 8}, Dim3{X: 256}, arguments{n: 1, f: 2}) != nil {
			t.Fatal("launch failed")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations a launch, want 0", allocations)
	}
}

func TestLaunch_BadSizes(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	k := kernel(t, d, "first")
	for _, block := range []Dim3{{}, {X: 2048}, {X: 32, Y: 32, Z: 2}} {
		err := k.Launch(d.Compute(), Dim3{X: 1}, block, struct{}{})
		var refused *Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "test.first") {
			t.Errorf("block %v: error %v, want an Error that names the kernel", block, err)
		}
	}
}

func TestModule_BadImagesAndNames(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	if _, err := d.LoadModule("broken", "no fatbin"); err == nil || !strings.Contains(err.Error(), "kernels of broken") {
		t.Errorf("error %v, want one that names the module", err)
	}
	m, err := d.LoadModule("test", "fake fatbin")
	expect.OK(t, err)
	var missing Kernel[struct{}]
	if err := missing.Find(m, "missing"); err == nil || !strings.Contains(err.Error(), "test.missing") {
		t.Errorf("error %v, want one that names the kernel", err)
	}
	var odd Kernel[struct{ narrow uint16 }]
	if err := odd.Find(m, "first"); err == nil || !strings.Contains(err.Error(), "narrow has 2 bytes") {
		t.Errorf("error %v, want one that names the argument", err)
	}
	fake.Fail(fake.Calls()+2, 209) // after cuCtxSetCurrent
	if _, err := d.LoadModule("new", "fake fatbin"); !errors.Is(err, ErrArchitecture) {
		t.Errorf("error %v, want ErrArchitecture", err)
	}
}

// Goroutines move between threads: every call must make the context current where it runs.
func TestDevice_ServesGoroutinesOfAllThreads(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			runtime.LockOSThread() // a thread of its own, never seen by the driver; ends with the goroutine
			for range 50 {
				a, err := d.Alloc(64)
				if err == nil {
					err = d.Free(a)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}
