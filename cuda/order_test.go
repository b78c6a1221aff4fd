//go:build cuda

package cuda

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
)

// overlap uploads batches to one buffer while the compute stream copies each batch on, and reports
// whether all arrived. The fake driver runs nothing that no event or wait demands.
func overlap(t *testing.T, d *Device, size int, guard bool) bool {
	t.Helper()
	const batches = 5
	r, err := d.NewRing(2, size/3+1) // three pieces a batch, through two buffers
	expect.OK(t, err)
	free, err := d.NewEvent(false)
	expect.OK(t, err)
	in, err := d.Alloc(size)
	expect.OK(t, err)
	out, err := d.Alloc(batches * size)
	expect.OK(t, err)
	s := d.Compute()
	expect.OK(t, s.Sync())
	batch, want := make([]byte, size), []byte{}
	for n := range batches {
		for i := range batch {
			batch[i] = byte(n*31 + i)
		}
		want = append(want, batch...)
		event := free
		if !guard {
			event = nil
		}
		done, err := r.Upload(in, event, batch[:size/2], batch[size/2:])
		expect.OK(t, err)
		expect.OK(t, s.Wait(done))
		expect.OK(t, s.Copy(out+Address(n*size), in, size))
		expect.OK(t, s.Record(free))
	}
	got := make([]byte, len(want))
	expect.OK(t, s.Download(got, out))
	return bytes.Equal(got, want)
}

func TestRing_KeepsBatchesApart(t *testing.T) {
	if !overlap(t, open(t, fakedriver.H200, Options{}), 3000, true) {
		t.Error("a batch was overwritten before it was used")
	}
}

func TestRing_TheTestSeesAMissingEvent(t *testing.T) {
	if overlap(t, open(t, fakedriver.H200, Options{}), 3000, false) {
		t.Error("uploads that do not wait for the compute stream went unnoticed: the test shows nothing")
	}
}

func TestStreams_AreOrderedByEvents(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	other, err := d.NewStream("other")
	expect.OK(t, err)
	a, err := d.Alloc(4)
	expect.OK(t, err)
	ready, err := d.NewEvent(false)
	expect.OK(t, err)
	expect.OK(t, d.Sync())
	expect.OK(t, d.Compute().Upload(a, []byte{1, 2, 3, 4}))
	expect.OK(t, d.Compute().Record(ready))
	got := make([]byte, 4)
	expect.OK(t, other.Download(got, a))
	if got[0] != 0 {
		t.Error("without an event the fake driver must hold the other stream back")
	}
	expect.OK(t, other.Wait(ready))
	expect.OK(t, other.Download(got, a))
	if got[3] != 4 {
		t.Error("the stream did not wait for the event")
	}
	expect.OK(t, other.Close())
}

func TestGraph_ReplaysWhatWasCaptured(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s := d.Compute()
	a, err := d.Alloc(4)
	expect.OK(t, err)
	b, err := d.Alloc(4)
	expect.OK(t, err)
	f := kernel(t, d, "first")
	g, err := s.Capture("step", func() error {
		return errors.Join(s.Copy(b, a, 4), f.launch(s))
	})
	expect.OK(t, err)
	got := make([]byte, 4)
	expect.OK(t, s.Upload(a, []byte{1, 2, 3, 4}))
	expect.OK(t, s.Download(got, b))
	if got[0] != 0 {
		t.Error("captured work ran before its graph was launched")
	}
	for n := range byte(3) {
		expect.OK(t, s.Upload(a, []byte{n, n, n, n}))
		expect.OK(t, g.Launch(s))
		expect.OK(t, s.Download(got, b))
		if got[2] != n {
			t.Errorf("replay %d copied %v", n, got)
		}
	}
	if g.String() != "graph step (test.first)" {
		t.Errorf("String gives %q", g.String())
	}
	expect.OK(t, g.Close())
	expect.OK(t, g.Close())
}

func TestCapture_RefusesWhatCannotBeReplayed(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s := d.Compute()
	a, err := d.Alloc(4)
	expect.OK(t, err)
	for name, work := range map[string]func() error{
		"upload":   func() error { return s.Upload(a, make([]byte, 4)) },
		"download": func() error { return s.Download(make([]byte, 4), a) },
		"wait":     s.Sync,
		"capture":  func() error { _, err := s.Capture("inner", func() error { return nil }); return err },
	} {
		if _, err := s.Capture("step", work); err == nil || !strings.Contains(err.Error(), "capture step") {
			t.Errorf("%s within a capture: error %v, want one that names the capture", name, err)
		}
		if s.Capturing() {
			t.Fatalf("%s: the stream still captures", name)
		}
	}
	expect.OK(t, s.Sync()) // the stream works on
}
