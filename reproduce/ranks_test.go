package reproduce

import (
	"strings"
	"sync"
	"testing"

	"nmn/group"
	"nmn/group/local"
	"nmn/group/local/localtest"
)

// Two ranks leave what one process then collects, and only the first of them has something to show.
func TestRun_OnRanks(t *testing.T) {
	s := tiny(t, Observed, Table4, Figure3)
	var all sync.WaitGroup
	outcomes, errs := make([]*Outcome, 2), make([]error, 2)
	for rank, g := range local.New(2, patience) {
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

// What is wrong with the folder of rank 0, or in what it holds, ends all ranks.
func TestRun_TellsEveryRankWhatIsWrong(t *testing.T) {
	s := tiny(t, Figure3)
	save(t, put(t, "", s.Dir, "x")[:len(s.Dir)], planRecord{Form: 7})
	broken := tiny(t, Table4)
	put(t, "{", broken.Dir, "moving-scenes-captions", ScoresFile)
	for says, s := range map[string]Settings{"another version of nmn": s, ScoresFile: broken} {
		for rank, err := range localtest.Run(2, func(g group.Group) error {
			_, err := planOf(t, s).Run(t.Context(), Options{Group: g})
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("rank %d: %v, want %q", rank, err, says)
			}
		}
	}
}

// Of a reproduction without anything to train, and of captioners that are complete.
func TestRun_FailsWhenAnyExchangeDoes(t *testing.T) {
	figure, captions := tiny(t, Figure3), tiny(t, Table4)
	p := planOf(t, captions)
	put(t, object(t, madeUp(p).units[0].captions), p.folder(&p.Units[0]), ScoresFile)
	for name, run := range map[string]func(g group.Group) error{
		"entering": func(g group.Group) error {
			_, err := planOf(t, figure).Run(t.Context(), Options{Group: g})
			return err
		},
		"captioners": func(g group.Group) error {
			unit, err := p.readCaptions(&Options{Group: g}, &p.Units[0])
			if err == nil && (unit.missing != 0 || (unit.captions != nil) != (g.Rank() == 0)) {
				t.Errorf("rank %d has %+v", g.Rank(), unit)
			}
			return err
		},
	} {
		exchanges, err := localtest.CutOff(run)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if exchanges == 0 {
			t.Errorf("%s: the ranks exchange nothing", name)
		}
	}
}
