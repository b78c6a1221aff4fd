package measure

import (
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/ranks/local"
)

// Every rank makes the steps and has the memory of all ranks. The figures of a step are equal on each.
func TestStep_OnRanks(t *testing.T) {
	const ranks = 3
	net := tiny
	net.Batch = 4 // two, one and one
	figures, failed := make([]*StepFigures, ranks), make([]error, ranks)
	var all sync.WaitGroup
	for rank, g := range local.New(ranks, time.Hour) {
		backend, o := cpu(t), twice
		o.Group = g
		all.Go(func() {
			figures[rank], failed[rank] = Step(t.Context(), backend, net, o)
			if failed[rank] != nil {
				g.Abort(failed[rank])
			}
		})
	}
	all.Wait()
	for rank, f := range figures {
		if failed[rank] != nil {
			t.Fatalf("rank %d: %v", rank, failed[rank])
		}
		if f.Ranks != ranks || len(f.RankMemoryMiB) != ranks || f.SumsMS <= 0 || f.Batch != 4 ||
			f.PeakMemoryMiB != f.RankMemoryMiB[rank] {
			t.Errorf("rank %d: %+v", rank, f)
		}
		first := figures[0]
		if f.StepMS != first.StepMS || f.StepMaxMS != first.StepMaxMS || f.GradientBytes != first.GradientBytes {
			t.Errorf("rank %d measured %g ms, rank 0 %g", rank, f.StepMS, figures[0].StepMS)
		}
	}
}

func TestStep_RefusesRanksWithoutBags(t *testing.T) {
	o := twice
	o.Group = local.New(2, time.Hour)[1]
	if _, err := Step(t.Context(), cpu(t), tiny, o); err == nil || !strings.Contains(err.Error(), "2 ranks") {
		t.Errorf("error %v", err)
	}
}

// One process says nothing of ranks.
func TestStep_AloneHasNoRanks(t *testing.T) {
	f, err := Step(t.Context(), cpu(t), tiny, twice)
	if err != nil || f.Ranks != 0 || f.RankMemoryMiB != nil {
		t.Errorf("%+v, %v", f, err)
	}
}
