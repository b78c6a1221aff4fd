package paper

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/experiment"
	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/paper/claims"
	"nmn/recipe"
	"nmn/run"
)

// configOf is the configuration of the nets of a unit.
func configOf(u *Unit) *run.Config {
	if u.Grid != nil {
		return &u.Grid.Config
	}
	return &u.Captions.Nets
}

// planned is what a plan trains, a line for each unit: how much there is to learn from and to judge by, and what is
// trained on it.
func planned(p *Plan) string {
	var b strings.Builder
	for _, u := range p.Units {
		fmt.Fprintf(&b, "%s in %s for %s: ", u.Title, u.Folder, names(u.parts))
		c := configOf(&u)
		if g := u.Grid; g != nil {
			fmt.Fprintf(&b, "%v, MIL %s, at %g", g.Arms, g.MIL, g.ReplaceCaptions)
		} else {
			e := u.Captions
			fmt.Fprintf(&b, "%d captions a clip, at %g, %d hidden, %d epochs", e.PerClip, u.noise(), e.Captioner.Net.Hidden,
				e.Captioner.Train.Epochs)
		}
		d, t := c.Data, c.Train
		fmt.Fprintf(&b, "; %d + %d + %d", d.TrainSize, d.ValidationSize, d.TestSize)
		if c.Data.Frames > 0 {
			fmt.Fprintf(&b, " of %d frames", d.Frames)
		}
		fmt.Fprintf(&b, ", width %g, %d + %d epochs, rates %s", c.Net.Width, t.Stage1Epochs, t.Stage2Epochs, c.Recipe.Form)
		if c.Recipe.Captions != "" {
			fmt.Fprintf(&b, ", captions %s", c.Recipe.Captions)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Every size has the runs and the sizes of docs/guide/reproduce.md.
func TestNew_PlansWhatTheManualSays(t *testing.T) {
	const scenes = "nets on scenes in scenes for table1, table2, figure4, observed, beyond: [stage1 baseline nmn-fi " +
		"nmn-fd], MIL both, at [0 0.2 0.4 0.6 0.8]; "
	const clips = "nets on moving-scenes in moving-scenes for table3: [stage1 baseline nmn-fi nmn-fd], MIL both, at [0]; "
	const captioners = "captioners on moving-scenes in moving-scenes-captions for table4: "
	const em = "nets on scenes in scenes for em: [stage1 baseline nmn-fi em], MIL off, at [0.4]; "
	const beyond = "nets on scenes in scenes-estimated for beyond: [held-rates caption-filter], MIL off, at [0.2 0.4 " +
		"0.6]; "
	for size, want := range map[Size][]string{
		Quick: {scenes + "4000 + 0 + 1000, width 1, 6 + 4 epochs, rates paper",
			clips + "1000 + 0 + 500 of 8 frames, width 1, 5 + 3 epochs, rates paper",
			captioners + "20 captions a clip, at 0.4, 96 hidden, 20 epochs; 500 + 100 + 200 of 8 frames, width 1, 10 + 4 " +
				"epochs, rates paper",
			em + "4000 + 0 + 1000, width 1, 6 + 4 epochs, rates paper",
			beyond + "4000 + 0 + 1000, width 1, 6 + 4 epochs, rates estimate, captions witness"},
		Full: {scenes + "16000 + 0 + 2000, width 1, 3 + 3 epochs, rates paper",
			clips + "2000 + 0 + 1000 of 26 frames, width 1, 5 + 3 epochs, rates paper",
			captioners + "20 captions a clip, at 0.4, 96 hidden, 20 epochs; 1000 + 100 + 300 of 8 frames, width 1, 20 + 6 " +
				"epochs, rates paper",
			em + "16000 + 0 + 2000, width 1, 3 + 3 epochs, rates paper",
			beyond + "16000 + 0 + 2000, width 1, 3 + 3 epochs, rates estimate, captions witness"},
		Smoke: {scenes + "48 + 0 + 16, width 0.5, 1 + 1 epochs, rates paper",
			clips + "12 + 0 + 8 of 3 frames, width 0.5, 1 + 1 epochs, rates paper",
			captioners + "5 captions a clip, at 0.4, 12 hidden, 1 epochs; 16 + 4 + 8 of 3 frames, width 0.5, 1 + 1 epochs, " +
				"rates paper",
			em + "48 + 0 + 16, width 0.5, 1 + 1 epochs, rates paper",
			beyond + "48 + 0 + 16, width 0.5, 1 + 1 epochs, rates estimate, captions witness"},
	} {
		s := Defaults(t.TempDir())
		s.Size = size
		p := planOf(t, s)
		if got, want := planned(p), strings.Join(want, "\n")+"\n"; got != want {
			t.Errorf("%s is\n%s\nwant\n%s", size, got, want)
		}
		if tasks, err := p.Tasks(); err != nil || len(tasks) != 175 {
			t.Errorf("%s: %d tasks (%v), want 175", size, len(tasks), err)
		}
		for _, u := range p.Units {
			var seeds []uint64
			if u.Grid != nil {
				seeds = u.Grid.Seeds
			} else {
				seeds = u.Captions.Seeds
			}
			if !slices.Equal(seeds, []uint64{1, 2, 3}) || u.Grid != nil && u.Grid.Dir != filepath.Join(s.Dir, u.Folder) {
				t.Errorf("%s: seeds %v", u.Title, seeds)
			}
		}
	}
}

// By itself each part has the runs that it is made of, and no more.
func TestNew_OfOnePart(t *testing.T) {
	all := []string{"baseline", "baseline-mil", "nmn-fd", "nmn-fd-mil", "nmn-fi", "nmn-fi-mil", "stage1", "stage1-mil"}
	for part, want := range map[Part]struct {
		data  string
		tasks int
		runs  []string // below the folder of the first seed, at the first level
	}{
		Table1:   {claims.Scenes, 3 * 8, all},
		Table2:   {claims.Scenes, 4 * 3 * 8, all},
		Table3:   {claims.MovingScenes, 3 * 8, all},
		Table4:   {claims.MovingScenes, 1, []string{"moving-scenes-captions"}},
		Figure3:  {"", 0, nil},
		Figure4:  {claims.Scenes, 3 * 4, []string{"stage1-mil", "baseline-mil", "nmn-fi-mil", "nmn-fd-mil"}},
		Observed: {claims.Scenes, 3 * 4, []string{"stage1", "nmn-fd", "stage1-mil", "nmn-fd-mil"}},
		EM:       {claims.Scenes, 3 * 4, []string{"stage1", "baseline", "nmn-fi", "em"}},
		Beyond:   {claims.Scenes, 3 * 3 * (3 + 3), []string{"stage1", "baseline", "nmn-fi"}},
	} {
		s := Defaults(t.TempDir())
		s.Only = []Part{part}
		p := planOf(t, s)
		tasks := expect.Value(p.Tasks())(t)
		var runs []string
		for _, task := range tasks {
			if filepath.Dir(task.Folder) == filepath.Dir(tasks[0].Folder) {
				runs = append(runs, filepath.Base(task.Folder))
			}
			if task.Data != want.data {
				t.Errorf("%s: %v is on %s", part, &task, task.Data)
			}
		}
		slices.Sort(runs)
		slices.Sort(want.runs)
		if len(p.Parts) != 1 || p.Parts[0].Data != want.data || len(tasks) != want.tasks || !slices.Equal(runs, want.runs) {
			t.Errorf("%s: %+v, %d tasks, of the first seed %q; want %+v", part, p.Parts, len(tasks), runs, want)
		}
	}
}

// A grid is dropped if another grid has all its runs. The other grid then serves its parts.
func TestFold_KeepsEachRunOnce(t *testing.T) {
	for only, want := range map[string]string{
		"table2 figure4":          "scenes: table2, figure4",
		"figure4 table2":          "scenes: table2, figure4",
		"figure4":                 "scenes: figure4",
		"figure4 observed":        "scenes: figure4; scenes: observed",
		"table1 figure4":          "scenes: table1; scenes: figure4",
		"em beyond":               "scenes: em; scenes: beyond; scenes-estimated: beyond",
		"table2 em":               "scenes: table2; scenes: em",
		"table2 beyond":           "scenes: table2, beyond; scenes-estimated: beyond",
		"table1 table2":           "scenes: table1, table2",
		"table3 table4 figure3":   "moving-scenes: table3; moving-scenes-captions: table4",
		"table2 observed figure4": "scenes: table2, figure4, observed",
	} {
		s := Defaults(t.TempDir())
		for _, part := range strings.Fields(only) {
			s.Only = append(s.Only, Part(part))
		}
		var got []string
		for _, u := range planOf(t, s).Units {
			got = append(got, u.Folder+": "+names(u.parts))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %s, want %s", only, strings.Join(got, "; "), want)
		}
	}
}

// A grid is kept for a single run that no other has, whichever that is.
func TestFold_KeepsGridsWithOneRunOfTheirOwn(t *testing.T) {
	grid := func(mil experiment.MIL, arms ...recipe.Name) Unit {
		return Unit{Folder: "scenes", Grid: &experiment.Grid{Arms: arms, ReplaceCaptions: []float64{.4}, MIL: mil},
			parts: []Part{EM}}
	}
	for name, c := range map[string]struct {
		first, second Unit
		kept          int
	}{
		"its first run": {grid(experiment.BothMIL, recipe.Baseline),
			grid(experiment.BothMIL, recipe.FI, recipe.Baseline), 2},
		"its last run": {grid(experiment.BothMIL, recipe.Baseline),
			grid(experiment.BothMIL, recipe.Baseline, recipe.FI), 2},
		"a run with MIL": {grid(experiment.WithoutMIL, recipe.Baseline), grid(experiment.WithMIL, recipe.Baseline), 2},
		"one without":    {grid(experiment.WithMIL, recipe.Baseline), grid(experiment.WithoutMIL, recipe.Baseline), 2},
		"nothing":        {grid(experiment.BothMIL, recipe.Baseline), grid(experiment.WithMIL, recipe.Baseline), 1},
	} {
		p := &Plan{Units: []Unit{c.first, c.second}}
		if p.fold(); len(p.Units) != c.kept {
			t.Errorf("%s: %d grids are kept, want %d", name, len(p.Units), c.kept)
		}
	}
}

// Noise models of all units start where the settings say.
func TestNew_StartsAtTheEstimate(t *testing.T) {
	for _, start := range []bool{false, true} {
		s := Defaults(t.TempDir())
		s.EstimatedStart = start
		p := planOf(t, s)
		for _, u := range p.Units {
			if c := configOf(&u); c.Recipe.Start != start || start && c.Recipe.Form != recipe.Estimate {
				t.Errorf("%s: %+v, want a start at the estimate: %t", u.Title, c.Recipe, start)
			}
		}
		if again := strings.Contains(p.rerun()[0], " `reproduce.estimated_start`"); again != start {
			t.Errorf("to run it again: %s", p.rerun()[0])
		}
	}
}

// All nets and captioners have the resources, seeds and weights of the settings.
func TestNew_PassesSettingsOn(t *testing.T) {
	s := Defaults(t.TempDir())
	s.Seeds, s.Run.Device, s.Run.Threads = []uint64{7, 9}, "cpu", 3
	for _, u := range planOf(t, s).Units {
		if c := configOf(&u); c.Run != s.Run || c.Net.Weights != "" {
			t.Errorf("%s: resources %+v, weights %q", u.Title, c.Run, c.Net.Weights)
		}
		if e := u.Captions; e != nil && (e.Captioner.Device != "cpu" || e.Captioner.Threads != 3 ||
			!slices.Equal(e.Seeds, s.Seeds)) {
			t.Errorf("captioners: %+v", e.Captioner)
		}
		if g := u.Grid; g != nil && (!slices.Equal(g.Seeds, s.Seeds) || !g.Chosen || g.Config.Recipe.Form == recipe.Paper &&
			strings.HasSuffix(u.Folder, "-estimated")) {
			t.Errorf("%s: %+v", u.Title, g)
		}
	}
}

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
		expect.OK(t, p.fit(t.Context(), &o, limit))
		seeds := p.Settings.Seeds
		if len(seeds) != want || seeds[0] != 1 || seeds[want-1] != uint64(want) ||
			!slices.Equal(p.Units[0].Grid.Seeds, seeds) {
			t.Errorf("%v has time for the seeds %d, want 1 to %d", limit, seeds, want)
		}
		says := fmt.Sprintf("seeds 1 to %d, in about %d", want, want)
		if len(told) != 1 || !strings.HasPrefix(told[0], says) {
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
	expect.Refusal(t, expect.ErrorOf(Fit(t.Context(), s, Options{}, time.Hour)), "huge")
	s = tiny(t, Figure3)
	put(t, "", s.Dir, PageFile)
	expect.Refusal(t, expect.ErrorOf(Fit(t.Context(), s, Options{}, time.Hour)), PageFile)
}

// Complete runs take no time, and of a run that two units share one counts.
func TestFit_CountsWhatIsLeft(t *testing.T) {
	p := hourly(t, Table1)
	tasks, err := p.Tasks()
	expect.OK(t, err)
	for _, task := range tasks {
		if strings.Contains(task.Folder, "seed-1") {
			put(t, `{"fingerprint": "f"}`, task.Folder, run.ResultFile)
		}
	}
	if expect.OK(t, p.fit(t.Context(), &Options{}, 5*time.Hour)); len(p.Settings.Seeds) != 6 {
		t.Errorf("with one complete seed there is time for %d, want 6", len(p.Settings.Seeds))
	}
	p = hourly(t, Table2, EM) // of the four arms of em, EM alone is not in Table 2
	if expect.OK(t, p.fit(t.Context(), &Options{}, 5*75*time.Minute)); len(p.Settings.Seeds) != 5 {
		t.Errorf("with a shared grid there is time for %d, want 5", len(p.Settings.Seeds))
	}
	p, err = Fit(t.Context(), tiny(t, Figure3), Options{}, 1)
	if err != nil || !slices.Equal(p.Settings.Seeds, []uint64{1, 2, 3}) {
		t.Errorf("nothing is trained: %v (%v)", p, err)
	}
}

// Captioners and the nets that they need have the seeds too.
func TestSetSeeds_OfAllUnits(t *testing.T) {
	msrvtt := clipsAndFrames(t)
	for _, p := range []*Plan{hourly(t, Table1, Table4),
		videoPlan(t, msrvtt, filepath.Join(t.TempDir(), "r"), Table3)} {
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
	expect.OK(t, planOf(t, s).Claim())
	if seeds, err := FolderSeeds(s.Dir); err != nil || !slices.Equal(seeds, s.Seeds) {
		t.Errorf("%d (%v), want %d", seeds, err, s.Seeds)
	}
	put(t, "{", s.Dir, planFile)
	expect.Refusal(t, expect.ErrorOf(FolderSeeds(s.Dir)), planFile)
}
