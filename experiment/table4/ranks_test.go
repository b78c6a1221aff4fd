package table4

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"nmn/group/local"
	"nmn/internal/durable"
)

// On features of the caller's own, ranks say what one process says; a rank alone that cannot read them ends all.
func TestExperiment_OnRanks(t *testing.T) {
	folder, captions := ownFeatures(t)
	run := func(n int, dir string, spoil func(rank int, e *Experiment)) (rows []string, errs []error) {
		rows, errs = make([]string, n), make([]error, n)
		var all sync.WaitGroup
		for rank, g := range local.New(n, time.Hour) {
			all.Go(func() {
				e := New(dir)
				e.Features, e.Captions, e.Group, e.Seeds = []Features{{"mine", folder}}, captions, g, []uint64{1}
				e.Captioner.Train.Epochs, e.Captioner.Net.Hidden, e.Captioner.Device = 1, 8, "cpu"
				spoil(rank, e)
				tables, err := e.Run(t.Context())
				if errs[rank] = err; err == nil {
					rows[rank] = fmt.Sprint(tables[0].Rows[1]) // of what is always said
				}
			})
		}
		all.Wait()
		return rows, errs
	}
	nothing := func(int, *Experiment) {}
	one, errs := run(1, filepath.Join(t.TempDir(), "table4"), nothing)
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	dir := filepath.Join(t.TempDir(), "table4")
	three, errs := run(3, dir, nothing)
	for rank := range three {
		if errs[rank] != nil || three[rank] != one[0] {
			t.Errorf("rank %d: %s, want %s (%v)", rank, three[rank], one[0], errs[rank])
		}
	}
	if !durable.Exists(filepath.Join(dir, "captioners", "seed-1", "mine", "generated.json")) {
		t.Error("rank 0 has not written the captions")
	}
	_, errs = run(3, filepath.Join(t.TempDir(), "table4"), func(rank int, e *Experiment) {
		if rank == 2 {
			e.Captions += ".not"
		}
	})
	for rank, err := range errs {
		if err == nil {
			t.Errorf("rank %d goes on without the captions of rank 2", rank)
		}
	}
}
