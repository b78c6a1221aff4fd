//go:build cuda

package cuda

import (
	"bytes"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
)

// stage sends batches of three arrays through a staging, which the compute stream copies on, and tells
// whether all arrived whole. The fake driver runs nothing that no event or wait demands. plant may take
// an event away before an upload and before a take.
func stage(t *testing.T, d *Device, plantUpload, plantTake func(*Staging)) bool {
	t.Helper()
	const batches = 4
	sizes := []int{700, 1, 256}
	s, err := d.NewStaging()
	must(t, err)
	defer func() { must(t, s.Close()) }()
	var in []Address
	for _, size := range sizes {
		at, err := d.Alloc(size)
		must(t, err)
		in = append(in, at)
	}
	out, err := d.Alloc(batches * 1024)
	must(t, err)
	must(t, d.Sync())
	batch := func(n int) [][]byte {
		var arrays [][]byte
		for i, size := range sizes {
			arrays = append(arrays, bytes.Repeat([]byte{byte(16*n + i + 1)}, size))
		}
		return arrays
	}
	var want []byte
	must(t, s.Stage(batch(0)...))
	for n := range batches {
		plantTake(s)
		must(t, s.Take(in...))
		if n+1 < batches { // the next one travels while this one is worked on
			plantUpload(s)
			must(t, s.Stage(batch(n+1)...))
		}
		for i, array := range batch(n) {
			must(t, d.Compute().Copy(out+Address(len(want)), in[i], sizes[i]))
			want = append(want, array...)
		}
	}
	got := make([]byte, len(want))
	must(t, d.Compute().Download(got, out))
	return bytes.Equal(got, want)
}

func nothing(*Staging) {}

func TestStaging_KeepsBatchesApart(t *testing.T) {
	if !stage(t, open(t, fakedriver.H200, Options{}), nothing, nothing) {
		t.Error("a batch was not there in time, or was overwritten before it was taken")
	}
}

func TestStaging_TheTestSeesAMissingEvent(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	never, err := d.NewEvent(false) // an event that was never recorded has happened
	must(t, err)
	if stage(t, d, func(s *Staging) { s.taken, never = never, s.taken }, nothing) {
		t.Error("uploads that do not wait until the batch before was taken went unnoticed")
	}
	if stage(t, d, nothing, func(s *Staging) { s.uploaded = never }) {
		t.Error("batches that are taken before they have arrived went unnoticed")
	}
}

func TestStaging_GrowsAndRefusesWhatWasNotStaged(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s, err := d.NewStaging()
	must(t, err)
	to, err := d.Alloc(2000)
	must(t, err)
	if err := s.Take(to); err == nil || !strings.Contains(err.Error(), "take 1 arrays of 0") {
		t.Errorf("nothing was staged: %v", err)
	}
	for _, size := range []int{10, 2000, 3} {
		want := bytes.Repeat([]byte{byte(size)}, size)
		must(t, s.Stage(want))
		must(t, s.Take(to))
		got := make([]byte, size)
		must(t, d.Compute().Download(got, to))
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes did not arrive", size)
		}
	}
	must(t, s.Stage([]byte{1}, []byte{2}))
	if err := s.Take(to); err == nil {
		t.Error("one of two arrays was taken")
	}
	must(t, s.Close())
}

func TestStaging_FreesWhatItHoldsWhenItCannotBeMade(t *testing.T) {
	for at := 1; ; at++ {
		d := open(t, fakedriver.H200, Options{})
		held, live := d.Held(), fake.Live()
		fake.Fail(fake.Calls()+at, 2)
		s, err := d.NewStaging()
		fake.Fail(0, 0)
		if err == nil {
			must(t, s.Close())
			if at < 10 {
				t.Errorf("only %d calls were made to fail", at-1)
			}
			return
		}
		if d.Held() != held || fake.Live() != live {
			t.Errorf("call %d fails: left %s, before %s", at, fake.Live(), live)
		}
		must(t, d.Close())
	}
}
