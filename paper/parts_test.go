package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/eval"
	"nmn/experiment"
	"nmn/internal/expect"
	"nmn/paper/claims"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// Hours on the paper's data are the sum of steps and forward passes over its pictures, or over the frames of its clips.
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
		{claims.MSRVTT, recipe.Baseline, false, 26 * 6513, .147, 26 * 497, .0325},
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
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: measures every part")
	}
	p := planOf(t, tiny(t, Observed, Table4))
	e, err := p.Estimate(t.Context(), Options{})
	expect.OK(t, err)
	if !strings.Contains(e.How, "measured now, on this machine") || strings.Contains(e.How, "benchmarks.md") {
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
	tasks := expect.Value(p.Tasks())(t)
	for _, task := range tasks[len(tasks)-3:] { // of the four nets; what is complete takes no time
		put(t, `{"fingerprint": "f"}`, task.Folder, run.ResultFile)
	}
	rest, err := p.Estimate(t.Context(), Options{})
	if err != nil || rest.Units[1].Complete != 3 || rest.Units[1].Time <= 0 {
		t.Errorf("of a quarter that is left %+v (%v)", rest, err)
	}
	done := planOf(t, tiny(t, Observed))
	for _, task := range tasks[len(tasks)-4:] {
		put(t, `{"fingerprint": "f"}`, strings.Replace(task.Folder, p.Settings.Dir, done.Settings.Dir, 1), run.ResultFile)
	}
	done.Units[0].Grid.Config.Data.TrainSize = -1 // which no step can be timed on
	if e, err := done.Estimate(t.Context(), Options{}); err != nil || e.Time != 0 || e.Units[0].Complete != 4 {
		t.Errorf("of nothing that is left %+v (%v)", e, err)
	}
	if left := share(16*time.Hour, 1, 8); left != 2*time.Hour {
		t.Errorf("%v is left of one run of eight", left)
	}
}

// A part uses the runs that it needs and no other. Runs with estimated rates come from their own folder.
func TestOfPart_TakesTheRunsOfThePart(t *testing.T) {
	p := planOf(t, tiny(t, Table2, Beyond))
	f := &found{}
	for _, u := range p.Units {
		var unit foundUnit
		for _, arm := range []recipe.Name{recipe.Stage1, recipe.Baseline, recipe.FI, recipe.FD, recipe.HeldRates,
			recipe.CaptionFilter} {
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
	want := []string{"scenes/baseline//20", "scenes/nmn-fi//20", "scenes-estimated/held-rates//20",
		"scenes-estimated/caption-filter//20"}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("beyond is made of %q, want %q", names, want)
	}
	if n := len(p.ofPart(f, p.part(Table2))); n != 4*2*2 {
		t.Errorf("table 2 is made of %d runs, want its four arms at both levels, with and without MIL", n)
	}
}

// What captioners take follows from the clips that they learn from, and what they leave from the frames.
func TestEstimate_OfCaptioners(t *testing.T) {
	s := Defaults(t.TempDir())
	s.Only = []Part{Table4}
	p := planOf(t, s)
	u := &p.Units[0]
	// 500 clips of 8 frames, by stage 1 for 10 epochs and three arms for 4, with each of three seeds.
	p.scale = 2
	whole, runs, err := p.unitTime(t.Context(), &Options{}, u)
	if want := 2 * 500 * 8 * (10 + 3*4) * 3 * .7e-3; err != nil || runs != 1 || math.Abs(whole.Seconds()/want-1) > 1e-6 {
		t.Errorf("in miniature %v of %d runs (%v), want %g s", whole, runs, err, want)
	}
	if disk := p.disk(u, 1); disk != 3*60<<20 {
		t.Errorf("in miniature %d bytes", disk)
	}
	if p.reads(u) != nil {
		t.Errorf("in miniature %q are read", p.reads(u))
	}
	msrvtt := clipsAndFrames(t)
	p = videoPlan(t, msrvtt, filepath.Join(t.TempDir(), "r"))
	u = &p.Units[1]
	u.Captions.Captioner.Train.Epochs, u.Captions.Captioner.Data.ValidationShare = 5, .1
	if u.noise() != 0 || planOf(t, s).Units[0].noise() != .4 {
		t.Errorf("on videos %g of the captions are replaced, want none", u.noise())
	}
	p.scale = 2
	whole, runs, err = p.unitTime(t.Context(), &Options{}, u)
	// For three nets the concepts of 26 frames of 7,010 clips, and 5 epochs of 20 captions of nine tenths of 6,513 clips.
	seconds := 2 * 3 * (26*7010*.276 + 5*.9*6513*20*.282/32)
	if err != nil || runs != 6 || math.Abs(whole.Seconds()/seconds-1) > 1e-6 {
		t.Errorf("on videos %v of %d runs (%v), want %g s", whole, runs, err, seconds)
	}
	// 1,087 concepts of each frame, and three checkpoints of 33 million parameters with their momentum, in 4 bytes.
	if disk := p.disk(u, 6); disk != 3*(4*26*7010*1087+3*2*4*33_000_000) {
		t.Errorf("on videos %d bytes", disk)
	}
	if disk := p.disk(&p.Units[0], 4); disk != 4*2*2*4*138<<20 {
		t.Errorf("nets on videos: %d bytes", disk)
	}
	if reads, want := p.reads(u), []string{filepath.Join(msrvtt, "words.txt"), filepath.Join(msrvtt,
		"train_val_videodatainfo.json"), filepath.Join(msrvtt, "frames")}; !slices.Equal(reads, want) {
		t.Errorf("on videos %q are read, want %q", reads, want)
	}
}

// A step on scenes that takes twice as long for half of the pictures makes everything take four times as long.
func TestSlower_IsByThePicture(t *testing.T) {
	for _, c := range []struct {
		step time.Duration
		bags int
		want float64
	}{{9090 * time.Microsecond, 32, 1}, {18180 * time.Microsecond, 16, 4}, {9090 * time.Microsecond, 0, 32}} {
		if got := slower(&run.Measured{Step: c.step, Bags: c.bags}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v for %d: %g, want %g", c.step, c.bags, got, c.want)
		}
	}
	s := Defaults(t.TempDir())
	s.Only, s.Run.Device = []Part{Table4}, "cpu"
	if e, err := planOf(t, s).Estimate(ended(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %+v, %v", e, err)
	}
}

func TestScaled_IsWhatWasTimedElsewhere(t *testing.T) {
	s := Defaults(t.TempDir())
	for _, c := range []struct {
		only []Part
		want bool
	}{{[]Part{Table1}, false}, {[]Part{Figure3}, false}, {[]Part{Table1, Table4}, true}} {
		s.Only = c.only
		if got := planOf(t, s).scaled(); got != c.want {
			t.Errorf("%v: %t", c.only, got)
		}
	}
	paper := shaped(t)
	paper.Only = []Part{Table1}
	if p, err := New(paper); err != nil || !p.scaled() {
		t.Errorf("the paper's data are timed here (%v)", err)
	}
}

// What a dry run prints.
func TestTables_OfThePlan(t *testing.T) {
	p := &Plan{Settings: Settings{Dir: "runs/r", Seeds: []uint64{7}}, Parts: []PlannedPart{
		{Name: Table1, Title: "One", Data: "coco"}, {Name: Table3, Title: "Three", Data: "msrvtt", Skip: "no `clips`"},
		{Name: Table4, Title: "Four", Data: "msrvtt", Skip: "no `clips`"}, {Name: Figure3, Title: "Curve"}},
		Rename: func(text string) string { return strings.ReplaceAll(text, "`clips`", "--clips") }}
	e := &Estimate{How: "How.", Time: 90*time.Minute + 18*time.Second, Disk: 2_350_000_000, Units: []UnitEstimate{
		{Title: "nets", Parts: []Part{Table1, Observed}, Reads: []string{"a", "b"}, Tasks: 8, Complete: 2,
			Time: 45 * time.Minute, Disk: 350_000_000},
		{Title: "nets", Parts: []Part{EM}, Reads: []string{"a", "b"}, Tasks: 4, Time: 45*time.Minute + 18*time.Second,
			Disk: 2e9}, {Title: "more", Parts: []Part{Beyond}, Reads: []string{"c"}},
		{Title: "scenes", Parts: []Part{Table2}}}}
	var b strings.Builder
	expect.OK(t, report.Write(&b, report.Markdown, p.Tables(e)...))
	sameText(t, b.String(), `**Parts**

| part | what | data | plan |
|:--|:--|:--|:--|
| table1 | One | coco | made |
| table3 | Three | msrvtt | skipped, see below |
| table4 | Four | msrvtt | skipped, see below |
| figure3 | Curve | none | made |

Skipped on msrvtt: no --clips.

**What is trained**

| what | for | runs | complete | hours | GB |
|:--|:--|--:|--:|--:|--:|
| nets | table1, observed | 8 | 2 | 0.75 | 0.35 |
| nets | em | 4 | 0 | 0.76 | 2.00 |
| more | beyond | 0 | 0 | 0.00 | 0.00 |
| scenes | table2 | 0 | 0 | 0.00 | 0.00 |

nets: reads a, b.

more: reads c.

How many seeds the claims need is unknown: no comparison has two complete seeds in runs/r.

About 1.51 hours remain for 1 seed. In the end, 2.35 GB are in runs/r. How. Nothing was written.
`)
}

// hourlyOf is a plan whose grids take an hour a seed, as if they had been timed.
func hourlyOf(t *testing.T, s Settings) *Plan {
	t.Helper()
	p := planOf(t, s)
	for i := range p.Units {
		p.Units[i].seedTime = time.Hour
	}
	return p
}

// A dry run reads complete runs, and shows the seeds that claims need once two of them are there.
func TestEstimate_HasTheSeedsThatClaimsNeed(t *testing.T) {
	s := tiny(t, Table1)
	s.Seeds = []uint64{1, 2}
	p := hourlyOf(t, s)
	tasks := expect.Value(p.Tasks())(t)
	finish := func(seed uint64, value float64) {
		for _, task := range tasks {
			arm, mil := strings.CutSuffix(filepath.Base(task.Folder), claims.MIL)
			if !strings.Contains(task.Folder, fmt.Sprintf("seed-%d", seed)) || mil {
				continue
			}
			o := run.Outcome{Fingerprint: "f", Arm: recipe.Name(arm), Seed: seed,
				Judgement: recipe.Judgement{Evaluation: &eval.Result{Measures: figures(.5)}}}
			if o.Arm == recipe.FD {
				o.Evaluation.Measures = figures(value)
			}
			put(t, object(t, o), task.Folder, run.ResultFile)
		}
	}
	plan := func() string {
		t.Helper()
		e := expect.Value(p.Estimate(t.Context(), Options{}))(t)
		var b strings.Builder
		expect.OK(t, report.Write(&b, report.Markdown, p.Tables(e)...))
		return b.String()
	}
	finish(1, .6)
	if text := plan(); !strings.Contains(text, "no comparison has two complete seeds in ") {
		t.Errorf("one seed: %s", text)
	}
	finish(2, .61)
	text := plan()
	has(t, text, "Seeds that the claims need", "| nmn-baseline | NMN-FD against baseline, 0 % |", "± 0.71 | 2 |")
	if strings.Contains(text, "unknown") || strings.Contains(text, "em-epochs") {
		t.Errorf("two seeds: %s", text)
	}
	var last record
	for _, arm := range []recipe.Name{recipe.FI, recipe.EM} {
		for seed, value := range []float64{1, 1.5} {
			if arm == recipe.EM {
				value = 1
			}
			for _, part := range []Part{EM, Table1} { // others are in the folders of the runs
				last.Results = append(last.Results, claims.Result{Part: string(part), Data: claims.Scenes, Arm: string(arm),
					Missing: .4, Seed: uint64(seed + 1), Words: claims.All, Metric: claims.NLL, Value: value})
			}
		}
	}
	put(t, object(t, planRecord{planForm, s}), s.Dir, planFile)
	put(t, object(t, last), s.Dir, RecordFile)
	has(t, plan(), "| em-epochs | ", "+0.25 (ours) | ± 0.35 | 2 |")
	for _, name := range []string{RecordFile, planFile} {
		put(t, "{", s.Dir, name)
		expect.Refusal(t, expect.ErrorOf(p.Estimate(t.Context(), Options{})), name)
	}
}
