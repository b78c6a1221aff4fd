package reproduce

import (
	"sync"
	"testing"
	"time"

	"nmn/group/local"
)

// Two ranks leave what one process then collects, and only the first of them has something to show.
func TestRun_OnRanks(t *testing.T) {
	s := tiny(t, Observed, Table4, Figure3)
	var all sync.WaitGroup
	outcomes, errs := make([]*Outcome, 2), make([]error, 2)
	for rank, g := range local.New(2, time.Minute) {
		all.Go(func() {
			p, err := New(t.Context(), s)
			if err == nil {
				outcomes[rank], err = p.Run(t.Context(), Options{Group: g})
			}
			errs[rank] = err
		})
	}
	all.Wait()
	if errs[0] != nil || errs[1] != nil || outcomes[0] == nil || outcomes[1] != nil {
		t.Fatalf("outcomes %v, errors %v", outcomes, errs)
	}
	want := written(t, s.Dir)
	if _, err := planOf(t, s).Collect(t.Context(), Options{}, false); err != nil {
		t.Fatal(err)
	}
	sameBytes(t, written(t, s.Dir), want)
}
