//go:build cuda

package cuda

import (
	"bytes"
	"errors"
	"testing"

	"nmn/internal/expect"
)

// card opens the first real card.
func card(t *testing.T) *Device {
	t.Helper()
	if !onCard() {
		t.Skip("runs on a real card, with NMN_REQUIRE=cuda")
	}
	d, err := Open(0, Options{})
	expect.OK(t, err)
	t.Logf("%v", d.Info())
	t.Cleanup(func() { expect.OK(t, d.Close()) })
	return d
}

func TestCard_CopiesAndMeasures(t *testing.T) {
	d, size := card(t), 64<<20
	a, err := d.Alloc(size)
	expect.OK(t, err)
	b, err := d.Alloc(size)
	expect.OK(t, err)
	before, err := d.NewEvent(true)
	expect.OK(t, err)
	after, err := d.NewEvent(true)
	expect.OK(t, err)
	want, got := make([]byte, size), make([]byte, size)
	for i := range want {
		want[i] = byte(i * 7 >> 3)
	}
	s := d.Compute()
	expect.OK(t, s.Upload(a, want))
	expect.OK(t, s.Record(before))
	expect.OK(t, s.Copy(b, a, size))
	expect.OK(t, s.Record(after))
	expect.OK(t, s.Launched("copy")) // marks its end in host memory
	expect.OK(t, s.Download(got, b))
	if !bytes.Equal(got, want) {
		t.Error("the bytes have changed on their way")
	}
	took, err := before.Elapsed(after)
	if expect.OK(t, err); took <= 0 {
		t.Errorf("copying %s took %v", formatBytes(size), took)
	}
	t.Logf("copied %s in %v: %.0f GB/s read and written", formatBytes(size), took,
		2*float64(size)/float64(took.Nanoseconds()))
	if !s.launches.marking {
		t.Log("this driver does not write marks: faults name several launches")
	} else if ended := *(*uint32)(s.launches.mark.at); ended != s.launches.count {
		t.Errorf("launch %d is marked as the last to end, want %d", ended, s.launches.count)
	}
}

func TestCard_RingKeepsBatchesApart(t *testing.T) {
	if !overlap(t, card(t), 12<<20, true) {
		t.Error("a batch was overwritten before it was used")
	}
}

func TestCard_GraphReplays(t *testing.T) {
	d := card(t)
	s := d.Compute()
	a, err := d.Alloc(256)
	expect.OK(t, err)
	b, err := d.Alloc(256)
	expect.OK(t, err)
	g, err := s.Capture("copy", func() error { return errors.Join(s.Zero(b, 256), s.Copy(b, a, 16)) })
	expect.OK(t, err)
	for n := range byte(3) {
		expect.OK(t, s.Upload(a, bytes.Repeat([]byte{n + 1}, 256)))
		expect.OK(t, g.Launch(s))
		got := make([]byte, 32)
		expect.OK(t, s.Download(got, b))
		if got[15] != n+1 || got[16] != 0 {
			t.Errorf("replay %d gives %v", n, got)
		}
	}
	_, err = s.Capture("wait", s.Sync)
	if err == nil {
		t.Error("waiting within a capture is no error")
	}
	expect.OK(t, s.Sync())
}

func TestCard_TellsThatMemoryIsFull(t *testing.T) {
	d := card(t)
	free, total, err := d.MemInfo()
	expect.OK(t, err)
	_, err = d.Alloc(total + 1<<20)
	var full *OutOfMemoryError
	if !errors.As(err, &full) || full.Asked != total+1<<20 || full.Free < free/2 {
		t.Errorf("error %v, want an OutOfMemoryError with about %s free", err, formatBytes(free))
	}
	again, err := d.Alloc(1 << 20)
	expect.OK(t, err)
	expect.OK(t, d.Free(again))
}
