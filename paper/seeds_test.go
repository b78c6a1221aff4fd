package paper

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/internal/setting"
	"nmn/paper/claims"
	"nmn/run"
)

// hourly is hourlyOf for three seeds.
func hourly(t *testing.T, only ...Part) *Plan {
	t.Helper()
	s := tiny(t, only...)
	s.Seeds = firstSeeds(claims.FewestSeeds)
	return hourlyOf(t, s)
}

func TestFit_TakesTheSeedsThatThereIsTimeFor(t *testing.T) {
	for limit, want := range map[time.Duration]int{3 * time.Hour: 3, 4*time.Hour - 1: 3, 4 * time.Hour: 4,
		8*time.Hour + time.Minute: 8, 1e5 * time.Hour: claims.MostSeeds} {
		p := hourly(t, Table1)
		var told []string
		o := Options{Notify: func(m run.Message) { told = append(told, m.Topic+" "+m.Text) }}
		check(t, p.fit(t.Context(), &o, limit))
		seeds := p.Settings.Seeds
		if len(seeds) != want || seeds[0] != 1 || seeds[want-1] != uint64(want) ||
			!slices.Equal(p.Units[0].Grid.Seeds, seeds) {
			t.Errorf("%v has time for the seeds %d, want 1 to %d", limit, seeds, want)
		}
		if says := fmt.Sprintf("seeds 1 to %d, in about %d", want, want); len(told) != 1 || !strings.HasPrefix(told[0], says) {
			t.Errorf("told %q, want %q", told, says)
		}
		if want > 8 { // more tasks than a test should look for
			continue
		}
		if e, err := p.Estimate(t.Context(), Options{}); err != nil || e.Time != time.Duration(want)*time.Hour {
			t.Errorf("%d seeds take %v (%v)", want, e.Time, err)
		}
	}
}

func TestFit_RefusesLessTimeThanThreeSeedsTake(t *testing.T) {
	p := hourly(t, Table1)
	err := p.fit(t.Context(), &Options{}, 3*time.Hour-1)
	var mistake *setting.Error
	if !errors.As(err, &mistake) || mistake.Key != "seeds" ||
		!strings.Contains(err.Error(), "the 3h0m0s that 3 seeds take") {
		t.Errorf("%v", err)
	}
	if got := rounded(1500 * time.Millisecond); got != 2*time.Second {
		t.Errorf("1.5 s are %v", got)
	}
	s := tiny(t, Figure3)
	s.Size = "huge"
	refused(t, errOf(Fit(t.Context(), s, Options{}, time.Hour)), "huge")
	s = tiny(t, Figure3)
	put(t, "", s.Dir, PageFile)
	refused(t, errOf(Fit(t.Context(), s, Options{}, time.Hour)), PageFile)
}

// Complete runs take no time, and of a run that two units share one counts.
func TestFit_CountsWhatIsLeft(t *testing.T) {
	p := hourly(t, Table1)
	tasks, err := p.Tasks()
	check(t, err)
	for _, task := range tasks {
		if strings.Contains(task.Folder, "seed-1") {
			put(t, `{"fingerprint": "f"}`, task.Folder, run.ResultFile)
		}
	}
	if check(t, p.fit(t.Context(), &Options{}, 5*time.Hour)); len(p.Settings.Seeds) != 6 {
		t.Errorf("with one complete seed there is time for %d, want 6", len(p.Settings.Seeds))
	}
	p = hourly(t, Table2, EM) // of the four arms of em, EM alone is not in Table 2
	if check(t, p.fit(t.Context(), &Options{}, 5*75*time.Minute)); len(p.Settings.Seeds) != 5 {
		t.Errorf("with a shared grid there is time for %d, want 5", len(p.Settings.Seeds))
	}
	p, err = Fit(t.Context(), tiny(t, Figure3), Options{}, 1)
	if err != nil || !slices.Equal(p.Settings.Seeds, []uint64{1, 2, 3}) {
		t.Errorf("nothing is trained: %v (%v)", p, err)
	}
}

// Captioners and the nets that they need have the seeds too.
func TestSetSeeds_OfAllUnits(t *testing.T) {
	msrvtt, want := clipsAndFrames(t)
	for _, p := range []*Plan{hourly(t, Table1, Table4),
		videoPlan(t, msrvtt, want, filepath.Join(t.TempDir(), "r"), Table3)} {
		p.setSeeds([]uint64{1, 2, 3, 4})
		for _, u := range p.Units {
			grid := u.Grid
			if u.Captions != nil {
				grid = u.Captions.Videos
				if !slices.Equal(u.Captions.Seeds, p.Settings.Seeds) {
					t.Errorf("%s: seeds %d", u.Title, u.Captions.Seeds)
				}
			}
			if grid != nil && !slices.Equal(grid.Seeds, p.Settings.Seeds) {
				t.Errorf("%s: seeds %d", u.Title, grid.Seeds)
			}
		}
	}
}

func TestFolderSeeds_AreThoseOfThePlan(t *testing.T) {
	s := tiny(t, Figure3)
	if seeds, err := FolderSeeds(s.Dir); err != nil || seeds != nil {
		t.Errorf("without a folder %d (%v)", seeds, err)
	}
	s.Seeds = []uint64{4, 9}
	check(t, planOf(t, s).Claim())
	if seeds, err := FolderSeeds(s.Dir); err != nil || !slices.Equal(seeds, s.Seeds) {
		t.Errorf("%d (%v), want %d", seeds, err, s.Seeds)
	}
	put(t, "{", s.Dir, planFile)
	refused(t, errOf(FolderSeeds(s.Dir)), planFile)
}
