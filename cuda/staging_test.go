//go:build cuda

package cuda

import (
	"bytes"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
)

// stage sends batches of three arrays through a staging, which the compute stream copies on, and
// reports whether all arrived whole. The fake driver runs nothing that no event or wait demands. plant
// may take an event away before an upload and before a take. The first array of each batch is in pinned
// memory.
func stage(t *testing.T, d *Device, plantUpload, plantTake func(*Staging)) bool {
	t.Helper()
	const batches = 4
	sizes := []int{700, 1, 256}
	s, err := d.NewStaging()
	expect.OK(t, err)
	defer func() { expect.OK(t, s.Close()) }()
	var in []Address
	for _, size := range sizes {
		at, err := d.Alloc(size)
		expect.OK(t, err)
		in = append(in, at)
	}
	out, err := d.Alloc(batches * 1024)
	expect.OK(t, err)
	expect.OK(t, d.Sync())
	var pinned [batches]*HostBuffer
	for i := range pinned {
		pinned[i], err = d.AllocHost(1000)
		expect.OK(t, err)
	}
	batch := func(n int) []HostArray {
		var arrays []HostArray
		for i, size := range sizes {
			arrays = append(arrays, HostArray{Bytes: bytes.Repeat([]byte{byte(16*n + i + 1)}, size)})
		}
		buffer := pinned[n]
		arrays[0] = HostArray{buffer.Bytes()[:copy(buffer.Bytes(), arrays[0].Bytes)], buffer}
		return arrays
	}
	var want []byte
	expect.OK(t, s.Stage(batch(0)...))
	for n := range batches {
		plantTake(s)
		expect.OK(t, s.Take(in...))
		if n+1 < batches { // the next one travels while this one is worked on
			plantUpload(s)
			expect.OK(t, s.Stage(batch(n+1)...))
		}
		for i, size := range sizes {
			expect.OK(t, d.Compute().Copy(out+Address(len(want)), in[i], size))
			want = append(want, bytes.Repeat([]byte{byte(16*n + i + 1)}, size)...)
		}
	}
	got := make([]byte, len(want))
	expect.OK(t, d.Compute().Download(got, out))
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
	expect.OK(t, err)
	if stage(t, d, func(s *Staging) { s.taken, never = never, s.taken }, nothing) {
		t.Error("uploads that do not wait until the batch before was taken went unnoticed")
	}
	if stage(t, d, nothing, func(s *Staging) { s.arrived, never = never, s.arrived }) {
		t.Error("batches that are taken before they have arrived went unnoticed")
	}
}

func TestStaging_GrowsAndRefusesWhatWasNotStaged(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s, err := d.NewStaging()
	expect.OK(t, err)
	to, err := d.Alloc(2000)
	expect.OK(t, err)
	if err := s.Take(to); err == nil || !strings.Contains(err.Error(), "take 1 arrays of 0") {
		t.Errorf("nothing was staged: %v", err)
	}
	for _, size := range []int{10, 2000, 3} {
		want := bytes.Repeat([]byte{byte(size)}, size)
		expect.OK(t, s.Stage(HostArray{Bytes: want}))
		expect.OK(t, s.Take(to))
		got := make([]byte, size)
		expect.OK(t, d.Compute().Download(got, to))
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes did not arrive", size)
		}
	}
	expect.OK(t, s.Stage(HostArray{Bytes: []byte{1}}, HostArray{Bytes: []byte{2}}))
	if err := s.Take(to); err == nil {
		t.Error("one of two arrays was taken")
	}
	expect.OK(t, s.Close())
}

func TestStaging_FreesWhatItHoldsWhenItCannotBeMade(t *testing.T) {
	for at := 1; ; at++ {
		d := open(t, fakedriver.H200, Options{})
		held, live := d.Held(), fake.Live()
		fake.Fail(fake.Calls()+at, 2)
		s, err := d.NewStaging()
		fake.Fail(0, 0)
		if err == nil {
			expect.OK(t, s.Close())
			if at < 10 {
				t.Errorf("only %d calls were made to fail", at-1)
			}
			return
		}
		if d.Held() != held || fake.Live() != live {
			t.Errorf("call %d fails: left %s, before %s", at, fake.Live(), live)
		}
		expect.OK(t, d.Close())
	}
}

// The card itself reads pinned memory, until Wait. The rest is copied first.
func TestStaging_ReadsPinnedMemoryWithoutACopy(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s, err := d.NewStaging()
	expect.OK(t, err)
	defer func() { expect.OK(t, s.Close()) }()
	buffer, err := d.AllocHost(300)
	expect.OK(t, err)
	pinnedTo, err := d.Alloc(300)
	expect.OK(t, err)
	otherTo, err := d.Alloc(300)
	expect.OK(t, err)
	other := make([]byte, 300)
	for _, waits := range []bool{false, true} {
		fill := func(v byte) {
			for i := range other {
				other[i], buffer.Bytes()[i] = v, v
			}
		}
		fill(1)
		expect.OK(t, s.Stage(HostArray{buffer.Bytes(), buffer}, HostArray{Bytes: other}))
		if waits {
			expect.OK(t, s.Wait())
		}
		fill(2)
		expect.OK(t, s.Take(pinnedTo, otherTo))
		for _, c := range []struct {
			at   Address
			want byte
			what string
		}{{pinnedTo, map[bool]byte{false: 2, true: 1}[waits], "pinned"}, {otherTo, 1, "other"}} {
			got := make([]byte, 300)
			expect.OK(t, d.Compute().Download(got, c.at))
			if !bytes.Equal(got, bytes.Repeat([]byte{c.want}, 300)) {
				t.Errorf("%s memory that was changed after Stage, waited for %t: %d arrived, want %d", c.what, waits,
					got[0], c.want)
			}
		}
	}
}
