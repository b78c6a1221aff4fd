//go:build cuda

package cuda

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
)

// overlap uploads batches to one buffer while the compute stream copies each batch on, and reports
// whether all arrived. The fake driver runs nothing that no event or wait demands.
func overlap(t *testing.T, d *Device, size int, guard bool) bool {
	t.Helper()
	const batches = 5
	r, err := d.NewRing(2, size/3+1) // three pieces a batch, through two buffers
	must(t, err)
	free, err := d.NewEvent(false)
	must(t, err)
	in, err := d.Alloc(size)
	must(t, err)
	out, err := d.Alloc(batches * size)
	must(t, err)
	s := d.Compute()
	must(t, s.Sync())
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
		must(t, err)
		must(t, s.Wait(done))
		must(t, s.Copy(out+Address(n*size), in, size))
		must(t, s.Record(free))
	}
	got := make([]byte, len(want))
	must(t, s.Download(got, out))
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
	must(t, err)
	a, err := d.Alloc(4)
	must(t, err)
	ready, err := d.NewEvent(false)
	must(t, err)
	must(t, d.Sync())
	must(t, d.Compute().Upload(a, []byte{1, 2, 3, 4}))
	must(t, d.Compute().Record(ready))
	got := make([]byte, 4)
	must(t, other.Download(got, a))
	if got[0] != 0 {
		t.Error("without an event the fake driver must hold the other stream back")
	}
	must(t, other.Wait(ready))
	must(t, other.Download(got, a))
	if got[3] != 4 {
		t.Error("the stream did not wait for the event")
	}
	must(t, other.Close())
}

func TestGraph_ReplaysWhatWasCaptured(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s := d.Compute()
	a, err := d.Alloc(4)
	must(t, err)
	b, err := d.Alloc(4)
	must(t, err)
	f := kernel(t, d, "first")
	g, err := s.Capture("step", func() error {
		return errors.Join(s.Copy(b, a, 4), f.launch(s))
	})
	must(t, err)
	got := make([]byte, 4)
	must(t, s.Upload(a, []byte{1, 2, 3, 4}))
	must(t, s.Download(got, b))
	if got[0] != 0 {
		t.Error("captured work ran before its graph was launched")
	}
	for n := range byte(3) {
		must(t, s.Upload(a, []byte{n, n, n, n}))
		must(t, g.Launch(s))
		must(t, s.Download(got, b))
		if got[2] != n {
			t.Errorf("replay %d copied %v", n, got)
		}
	}
	if g.String() != "graph step (test.first)" {
		t.Errorf("String gives %q", g.String())
	}
	must(t, g.Close())
	must(t, g.Close())
}

func TestCapture_RefusesWhatCannotBeReplayed(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s := d.Compute()
	a, err := d.Alloc(4)
	must(t, err)
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
	must(t, s.Sync()) // the stream works on
}
