//go:build cuda

package cuda

import (
	"bytes"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
)

// roomy is a host whose device holds several slots.
func roomy() fakedriver.Config {
	c := fakedriver.H200
	c.Memory = 64 << 20
	return c
}

// onlyPinned fails if the driver was given pageable memory to upload.
func onlyPinned(t *testing.T) {
	t.Helper()
	for _, line := range fake.Log() {
		if strings.HasPrefix(line, "upload") && !strings.HasSuffix(line, "pinned") {
			t.Errorf("%s bytes of pageable memory: the driver may read it late", line)
		}
	}
}

// One buffer serves all blocks of a file, as when weights are loaded. The fake driver reads an upload as late
// as it may.
func TestUpload_SourcesMayChangeAtOnce(t *testing.T) {
	for name, sizes := range map[string][]int{
		"many small ones":        {1 << 10, 3, 256, 1},
		"blocks":                 {1 << 20},
		"one larger than a slot": {asideBytes + 1},
		"one larger than all":    {3*asideBytes + 12345},
		"to the end of a slot":   {asideBytes - 256, 256, asideBytes, 512},
		"over the end of a slot": {asideBytes - 1000, 3000},
		"small ones after large": {2 * asideBytes, 5, 5},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, roomy(), Options{})
			total := 0
			for _, size := range sizes {
				total += size
			}
			rounds := min(5000/len(sizes), max(2, 20<<20/total))
			to, err := d.Alloc(rounds * total)
			expect.OK(t, err)
			var want []byte
			for n := range rounds {
				for i, size := range sizes {
					block := bytes.Repeat([]byte{byte(7*n + i + 1)}, size)
					want = append(want, block...)
					expect.OK(t, d.Compute().Upload(to+Address(len(want)-size), block))
					for j := range block {
						block[j] = 0xee
					}
				}
			}
			got := make([]byte, len(want))
			expect.OK(t, d.Compute().Download(got, to))
			if !bytes.Equal(got, want) {
				t.Error("what was changed after Upload has arrived")
			}
			onlyPinned(t)
		})
	}
}

// Steps with small uploads cost no more because of the pinned memory in between: one call for each upload,
// apart from the one that makes the context current, and no allocation.
func TestUpload_OfLittleIsOneCall(t *testing.T) {
	d := open(t, roomy(), Options{})
	to, err := d.Alloc(4096)
	expect.OK(t, err)
	block := make([]byte, 4096)
	expect.OK(t, d.Compute().Upload(to, block))
	before := fake.Calls()
	expect.OK(t, d.Compute().Upload(to, block))
	if got := fake.Calls() - before; got != 2 {
		t.Errorf("%d calls of the driver, want the context and the copy", got)
	}
	allocations := testing.AllocsPerRun(100, func() {
		if d.Compute().Upload(to, block) != nil || d.Compute().Sync() != nil {
			t.Fatal("upload failed")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations an upload, want 0", allocations)
	}
}

func TestDownloadPinned_IsThereWhenItsEventHasHappened(t *testing.T) {
	d := open(t, fakedriver.H200, Options{})
	s := d.Compute()
	at, err := d.Alloc(100)
	expect.OK(t, err)
	buffer, err := d.AllocHost(100)
	expect.OK(t, err)
	done, err := d.NewEvent(false)
	expect.OK(t, err)
	clear(buffer.Bytes())
	expect.OK(t, s.Upload(at, bytes.Repeat([]byte{5}, 100)))
	expect.OK(t, s.DownloadPinned(buffer, at, 90))
	if buffer.Bytes()[0] != 0 {
		t.Error("the fake driver must hold the copy back until something waits for it")
	}
	expect.OK(t, s.Record(done))
	expect.OK(t, s.Upload(at, bytes.Repeat([]byte{6}, 100)))
	expect.OK(t, done.Sync())
	if got := buffer.Bytes(); !bytes.Equal(got, append(bytes.Repeat([]byte{5}, 90), make([]byte, 10)...)) {
		t.Errorf("%v arrived", got)
	}
	if err := s.DownloadPinned(buffer, at, 101); err == nil {
		t.Error("more than the buffer holds is no error")
	}
}
