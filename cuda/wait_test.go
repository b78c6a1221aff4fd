//go:build cuda

package cuda

import (
	"slices"
	"strings"
	"testing"

	"nmn/cuda/internal/fakedriver"
	"nmn/internal/expect"
)

// setFlags are the flags of contexts that were set.
func setFlags() (set []string) {
	for _, line := range fake.Log() {
		if flags, ok := strings.CutPrefix(line, "cuDevicePrimaryCtxSetFlags "); ok {
			set = append(set, flags)
		}
	}
	return set
}

func TestOpen_WaitsAsleepUnlessAnotherLibraryHasChosen(t *testing.T) {
	spin, mapped := fakedriver.H200, fakedriver.H200
	spin.Flags = 1   // CU_CTX_SCHED_SPIN
	mapped.Flags = 8 // CU_CTX_MAP_HOST, which is not about waiting
	for name, c := range map[string]struct {
		host fakedriver.Config
		want []string
	}{
		"nothing is chosen": {fakedriver.H200, []string{"4"}}, // CU_CTX_SCHED_BLOCKING_SYNC
		"spinning":          {spin, nil},
		"other flags":       {mapped, []string{"12"}},
	} {
		d := open(t, c.host, Options{})
		if got := setFlags(); !slices.Equal(got, c.want) {
			t.Errorf("%s: flags %v are set, want %v", name, got, c.want)
		}
		again, err := Open(0, Options{}) // the context is active by now
		expect.OK(t, err)
		if got := setFlags(); !slices.Equal(got, c.want) {
			t.Errorf("%s: flags %v are set of a context that is open", name, got)
		}
		expect.OK(t, again.Close())
		expect.OK(t, d.Close())
	}
}

func TestUploads_WaitForRoomAsleep(t *testing.T) {
	d := open(t, roomy(), Options{})
	if !overlap(t, d, 3000, true) || !stage(t, d, nothing, nothing) {
		t.Error("batches were mixed up")
	}
	to, err := d.Alloc(3 * asideBytes)
	expect.OK(t, err)
	expect.OK(t, d.Compute().Upload(to, make([]byte, 3*asideBytes)))
	if slices.Contains(fake.Log(), "busy wait for an event") {
		t.Error("the host waits for an event with a core of its own")
	}
	event, err := d.NewEvent(false)
	expect.OK(t, err)
	expect.OK(t, event.Sync())
	if !slices.Contains(fake.Log(), "busy wait for an event") {
		t.Error("the fake driver does not see how the host waits: the test shows nothing")
	}
}
