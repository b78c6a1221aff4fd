package reproduce

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/experiment"
	"nmn/recipe"
	"nmn/report"
	"nmn/reproduce/claims"
	"nmn/run"
)

// Hours on the paper's data are those of the steps and forward passes over its pictures, or over the frames of its
// clips.
func TestRealTime_IsThatOfStepsAndForwardPasses(t *testing.T) {
	for _, c := range []struct {
		data  string
		arm   recipe.Name
		mil   bool
		train float64 // pictures an epoch, and seconds for each
		each  float64
		test  float64 // pictures of an evaluation, and seconds for each
		look  float64
	}{
		{claims.COCO, recipe.Stage1, false, 82_783, .147, 20_252, .0325},
		{claims.COCO, recipe.FD, true, 82_783, 1.029, 20_252, .276},
		{claims.MSRVTT, recipe.Star, false, 26 * 6513, .147, 26 * 497, .0325},
		{claims.MSRVTT, recipe.Stage1, true, 26 * 6513, 1.029, 26 * 497, .276},
	} {
		config := run.BaseConfig()
		config.Train.Stage1Epochs, config.Train.Stage2Epochs = 3, 2
		epochs := 2.0
		if c.arm == recipe.Stage1 {
			epochs = 3
		}
		u := &Unit{Data: c.data, Grid: &experiment.Grid{Config: config}}
		tasks := []experiment.Task{{Arm: c.arm, MIL: c.mil}, {Arm: c.arm, MIL: c.mil}}
		want := 2 * (epochs*c.train*c.each + (epochs+1)*c.test*c.look)
		if got := realTime(u, tasks).Seconds(); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s, %s, MIL %t: %g s, want %g", c.data, c.arm, c.mil, got, want)
		}
	}
}

// In miniature hours come of this machine alone.
func TestEstimate_TellsWhereItsTimesAreFrom(t *testing.T) {
	p := planOf(t, tiny(t, Observed, Table4))
	e, err := p.Estimate(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(e.How, "timed now, on this machine") || strings.Contains(e.How, "benchmarks.md") {
		t.Errorf("%q", e.How)
	}
	var whole time.Duration
	var disk int64
	for _, u := range e.Units {
		if u.Time <= 0 || u.Disk <= 0 || len(u.Reads) > 0 {
			t.Errorf("%+v", u)
		}
		whole, disk = whole+u.Time, disk+u.Disk
	}
	if len(e.Units) != 2 || e.Time != whole || e.Disk != disk || e.Disk != 4*sceneRun+captionRun {
		t.Errorf("%+v", e)
	}
	tasks, err := p.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks[len(tasks)-3:] { // of the four nets; what is complete takes no time
		put(t, `{"fingerprint": "f"}`, task.Folder, run.ResultFile)
	}
	rest, err := p.Estimate(t.Context(), Options{})
	if err != nil || rest.Units[1].Complete != 3 || rest.Units[1].Time >= e.Units[1].Time {
		t.Errorf("of a quarter that is left %+v, of all %+v (%v)", rest, e, err)
	}
}

// A part is made of the runs that it needs and of no other: of estimated rates those of their own folder alone.
func TestOfPart_TakesTheRunsOfThePart(t *testing.T) {
	p := planOf(t, tiny(t, Table2, Beyond))
	f := &found{}
	for _, u := range p.Units {
		var unit foundUnit
		for _, arm := range []recipe.Name{recipe.Stage1, recipe.Star, recipe.FI, recipe.FD, recipe.RN, recipe.C} {
			for _, noise := range []float64{.2, .8} {
				for _, mil := range []bool{false, true} {
					name := strings.Join([]string{u.Folder, string(arm), map[bool]string{true: "mil"}[mil],
						map[float64]string{.2: "20", .8: "80"}[noise]}, "/")
					unit.runs = append(unit.runs, report.Run{Name: name, Arm: string(arm), Noise: noise, MIL: mil})
				}
			}
		}
		f.units = append(f.units, unit)
	}
	var names []string
	for _, r := range p.ofPart(f, p.part(Beyond)) {
		names = append(names, r.Name)
	}
	want := []string{"scenes/star//20", "scenes/nmn-fi//20", "scenes-estimated/r-n//20", "scenes-estimated/nmn-c//20"}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("beyond is made of %q, want %q", names, want)
	}
	if n := len(p.ofPart(f, p.part(Table2))); n != 4*2*2 {
		t.Errorf("table 2 is made of %d runs, want its four arms at both levels, with and without MIL", n)
	}
}

// A run without a result has its folder in the record, and one whose result cannot be read is an error.
func TestRecord_OfRunsWhoseResultIsGoneOrDamaged(t *testing.T) {
	p := &Plan{Settings: Settings{Dir: t.TempDir()}}
	dir := filepath.Join(p.Settings.Dir, "scenes", "star")
	for name, of := range map[string]func(string) (*recordedRun, error){"net": p.recordRun,
		"captioner": p.recordCaptioner} {
		remove(t, dir)
		if r, err := of(dir); err != nil || r.Folder != "scenes/star" || r.Fingerprint != "" {
			t.Errorf("%s: %+v (%v)", name, r, err)
		}
		put(t, "{", dir, run.ResultFile)
		if _, err := of(dir); err == nil {
			t.Errorf("%s: a damaged result is taken", name)
		}
		put(t, `{"fingerprint": "f", "steps": 7, "seconds": 2}`, dir, run.ResultFile)
		if r, err := of(dir); err != nil || r.Fingerprint != "f" || r.Steps != 7 || r.Seconds != 2 || r.Program == nil {
			t.Errorf("%s: %+v (%v)", name, r, err)
		}
	}
}
