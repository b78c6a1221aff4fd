package paper

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/eval"
	"nmn/experiment"
	"nmn/internal/expect"
	"nmn/paper/claims"
	"nmn/paper/table4"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

// figures are the measures of an evaluation, all different.
func figures(v float64) eval.Measures {
	n := func(plus float64) eval.Number { return eval.Number(v + plus) }
	labels := func(plus float64) *eval.MultiLabel {
		l := &eval.MultiLabel{AP: eval.ByGroup[eval.Number]{All: n(plus)},
			Brier: eval.ByGroup[eval.Number]{All: n(plus + .001)}}
		l.AtThreshold.All.OF1 = n(plus + .002)
		return l
	}
	h := &eval.Human{AP: eval.ByGroup[eval.Number]{Group: make([]eval.Number, text.POSCount), All: n(0)}}
	for g := range h.AP.Group {
		h.AP.Group[g] = eval.Undefined()
	}
	h.AP.Group[text.NN] = n(.0001)
	return eval.Measures{Human: h, Labels: labels(.01), Truth: labels(.02)}
}

// madeUp returns results that the runs of a plan could have left. Their figures show their origin.
func madeUp(p *Plan) *found {
	f := &found{}
	for i := range p.Units {
		u := &p.Units[i]
		one := foundUnit{config: "config of " + u.Folder, digests: []dataDigest{{"train", 40, "a"}, {"test", 10, "b"}}}
		if u.Captions != nil {
			one.captions = &captionScores{Title: "Captions of clips", Modules: "exact"}
			for row := range table4.Arms() {
				scores := report.CaptionRow{Name: string(table4.Arms()[row])}
				for seed := range p.Settings.Seeds {
					v := float64(row+1)/10 + float64(seed)/100
					scores.Scores = append(scores.Scores, metrics.Scores{CIDErD: v, ROUGEL: v + .001, METEOR: v + .002,
						BLEU: [4]float64{0, 0, 0, v + .003}})
				}
				one.captions.Rows = append(one.captions.Rows, scores)
			}
			f.units = append(f.units, one)
			continue
		}
		for _, arm := range u.Grid.Arms {
			for _, level := range u.Grid.ReplaceCaptions {
				for _, mil := range []bool{false, true} {
					for _, seed := range p.Settings.Seeds {
						if mil && u.Grid.MIL == experiment.WithoutMIL || !mil && u.Grid.MIL == experiment.WithMIL {
							continue
						}
						r := report.Run{Dataset: u.Data, Arm: string(arm), MIL: mil, Noise: level, Seed: seed,
							Name:   filepath.Join(p.Settings.Dir, u.Folder, fmt.Sprint(level, seed, arm, mil)),
							Result: &eval.Result{Measures: figures(level/2 + float64(seed)/100)}}
						if arm == recipe.FD && level == observedNoise {
							r.Result.Observed = &r.Result.Measures
						}
						one.runs = append(one.runs, r)
					}
				}
			}
		}
		f.units = append(f.units, one)
	}
	return f
}

func titles(tables []*report.Table) string {
	var all []string
	for _, t := range tables {
		all = append(all, t.Title)
	}
	return strings.Join(all, ", ")
}

// described is what a page says, but for the program and the rows of its tables.
func described(page *report.Reproduction) string {
	var b strings.Builder
	line := func(of string, text ...any) {
		fmt.Fprintf(&b, "%s: %s\n", of, strings.TrimRight(fmt.Sprintln(text...), " \n"))
	}
	for _, l := range page.Lead {
		line("lead", l)
	}
	for _, l := range page.Facts {
		if l.Name != "program" {
			line(l.Name, l.Meaning)
		}
	}
	line("again", page.Rerun[0])
	for _, l := range page.Settings {
		line("settings", l.Name+": "+l.Meaning)
	}
	for _, p := range page.Parts {
		line(p.ID, p.Title, p.Skip, map[bool]string{true: "drawn"}[p.Figure3])
		for _, n := range p.Notes {
			line("  note", n)
		}
		for _, t := range p.Tables {
			line("  table", len(t.Rows), "rows,", t.Title)
		}
		for _, t := range p.Apart {
			line("  apart", t.Title)
		}
		if len(p.Levels) > 0 {
			line("  curves of runs", len(p.Levels))
		}
	}
	return b.String()
}

func pageOf(t *testing.T, p *Plan, f *found) *report.Reproduction {
	t.Helper()
	return expect.Value(p.page(t.Context(), &Options{}, f, claims.Check(p.results(f))))(t)
}

func sameText(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d is %q, want %q; of all\n%s", i+1, a[min(i, len(a)-1)], b[min(i, len(b)-1)], got)
		}
	}
}

func TestPage_InMiniature(t *testing.T) {
	s := Defaults("r")
	s.Seeds = []uint64{1, 2}
	s.Only = []Part{Table1, Table2, Table3, Table4, Figure3, Observed, Beyond}
	p := planOf(t, s)
	f := madeUp(p)
	f.units[1].missing = 1
	const start = "  note: At every level, noise models start near the mean rates at 40 % replaced captions. This uses " +
		"prior knowledge of the data, unlike the paper's start, a flip of .036. It is a setting of the preset, and was not " +
		"chosen for this page.\n"
	sameText(t, described(pageOf(t, p, f)), "lead: The paper's protocol in miniature, on generated pictures and "+
		"clips. Compare its figures with each other, and not with the paper's figures, which are about photographs and "+
		`videos.
size: quick
seeds: 1, 2
table1, table2, observed, beyond: scenes, train of 40, test of 10; stage 1, baseline, NMN-FI, NMN-FD at 0, 20, 40, `+
		`60, 80 % replaced captions (MIL both), 6 + 4 epochs
table3: moving-scenes, train of 40, test of 10; stage 1, baseline, NMN-FI, NMN-FD at 0 % replaced captions `+
		`(MIL both), 5 + 3 epochs; not complete: 1
table4: moving-scenes, 500 clips of 8 frames to learn from, 100 to end a captioner's training, 200 to score; `+
		`10 + 4 epochs
beyond: scenes, train of 40, test of 10; held rates, caption filter at 20, 40, 60 % replaced captions `+
		`(MIL off), 6 + 4 epochs
verdicts: 0 confirmed, 0 not confirmed, 19 not tested well enough
choices: Test data choose no epoch, rate or threshold. Nets are taken after their last step, and captioners at `+
		"their best CIDEr-D on clips outside the test set.\n"+
		"again: nmn reproduce `reproduce.size` quick `reproduce.seeds` 1,2 `reproduce.only` "+
		`table1,table2,table3,table4,figure3,observed,beyond
settings: All settings of nets on scenes, for table1, table2, observed, beyond: config of scenes
settings: All settings of nets on moving-scenes, for table3: config of moving-scenes
settings: All settings of captioners on moving-scenes, for table4: config of moving-scenes-captions
settings: All settings of nets on scenes, for beyond: config of scenes-estimated
table1: Table 1: concept detection without replaced captions
`+start+`  table: 9 rows, Table 1: average precision with human agreement (%)
  apart: Published, on COCO: Table 1 of the paper
table2: Table 2: concept detection with replaced captions
`+start+`  table: 17 rows, Table 2: average precision with human agreement (%)
  apart: Published, on COCO: Table 2 of the paper
  curves of runs: 80
table3: Table 3: concept detection in videos
`+start+`  table: 9 rows, Table 3: average precision with human agreement (%)
  apart: Published, on MSR-VTT: Table 3 of the paper
table4: Table 4: captions of videos
  table: 3 rows, Captions of clips
  apart: Published: Table 4 of the paper, validation clips of MSR-VTT
figure3: Figure 3: the derivative of the loss  drawn
  note: Drawn on the page from the closed form, without data. Both rates are 0.05.
observed: The observed distribution under much noise
  table: 2 rows, Prediction of observed and of true labels, average precision with human agreement (%)
beyond: Beyond the paper: estimated rates, and captions as witnesses
  table: 12 rows, Experiment: mean ± standard deviation over seeds
  table: 9 rows, Paired differences against baseline: mean ± standard deviation over seeds
`)
	if page := pageOf(t, p, f); titles(page.Claims) != "What the paper claims, What goes beyond the paper" ||
		titles(page.Details) != "Every comparison" {
		t.Errorf("claims %q, details %q", titles(page.Claims), titles(page.Details))
	}
	table4 := p.Parts[3]
	shown := expect.Value(p.show(t.Context(), &Options{}, f, &table4))(t)
	if notes := strings.Join(shown.Tables[0].Notes, " "); !strings.Contains(notes, "CIDEr-D, BLEU-4, ROUGE-L and METEOR "+
		"(1.5, modules exact) times 100") || !strings.Contains(notes, "Nets with MIL, at 40 % replaced captions.") {
		t.Errorf("notes of Table 4: %q", notes)
	}
	// One seed has no differences of equal seeds.
	s.Seeds, s.Only = []uint64{4}, []Part{Beyond}
	p = planOf(t, s)
	if page := pageOf(t, p, madeUp(p)); len(page.Parts[0].Tables) != 1 || page.Facts[1].Meaning != "4" {
		t.Errorf("of one seed: %+v", page.Parts[0])
	}
}

func TestPage_OnThePapersData(t *testing.T) {
	s := shaped(t)
	s.Only = []Part{Table1, Table3, Observed}
	p := expect.Value(New(s))(t)
	p.Rename = func(text string) string { return strings.ReplaceAll(text, "`reproduce.", "`--") }
	f := madeUp(p)
	for i := range f.units {
		for j := range f.units[i].runs {
			f.units[i].runs[j].PaperData = true
		}
	}
	described := described(pageOf(t, p, f))
	for of, with := range map[string]string{s.COCO: "COCO", s.MSRVTT: "MSRVTT", s.Init: "INIT"} {
		described = strings.ReplaceAll(described, of, with)
	}
	sameText(t, described, "lead: The paper's protocol on the paper's data. Published figures are below ours. Each of them "+
		`comes from one run.
protocol: the paper's
seeds: 1, 2, 3
weights: INIT
table1: coco, train of 40, test of 10; stage 1, baseline, NMN-FI, NMN-FD at 0 % replaced captions `+
		`(MIL both), 3 + 2 epochs
observed: coco, train of 40, test of 10; NMN-FD at 80 % replaced captions (MIL both), 3 + 2 epochs
verdicts: 0 confirmed, 0 not confirmed, 19 not tested well enough
choices: Test data choose no epoch, rate or threshold. Nets are taken after their last step, and captioners at `+
		"their best CIDEr-D on clips outside the test set.\n"+
		"again: nmn reproduce `--size` quick `--seeds` 1,2,3 `--coco` COCO `--msrvtt` MSRVTT `--init` INIT `--only` "+
		`table1,table3,observed
settings: All settings of nets on coco, for table1: config of coco
settings: All settings of nets on coco, for observed: config of coco
table1: Table 1: concept detection without replaced captions
  table: 17 rows, Table 1: average precision with human agreement (%)
table3: Table 3: concept detection in videos MSRVTT lacks the folder frames, which nmn frames `+
		`writes from the clips
observed: The observed distribution under much noise
  table: 2 rows, Prediction of observed and of true labels, average precision with human agreement (%)
`)
	facts := p.facts(f, []claims.Verdict{{Outcome: claims.Confirmed}, {Outcome: claims.NotTested},
		{Outcome: claims.NotConfirmed}, {Outcome: claims.Confirmed}, {Outcome: claims.Confirmed},
		{Outcome: claims.NotConfirmed}})
	if got := facts[len(facts)-2].Meaning; got != "3 confirmed, 2 not confirmed, 1 not tested well enough" {
		t.Errorf("verdicts: %s", got)
	}
}

// Without any comparison nothing is folded away.
func TestPage_WithoutComparisons(t *testing.T) {
	s := Defaults("r")
	s.Only = []Part{Figure3}
	p := planOf(t, s)
	if page := pageOf(t, p, &found{}); titles(page.Claims) != "What the paper claims, What goes beyond the paper" ||
		page.Details != nil {
		t.Errorf("claims %q, details %q", titles(page.Claims), titles(page.Details))
	}
	page, err := p.page(t.Context(), &Options{}, &found{}, nil)
	if err != nil || page.Claims != nil || page.Details != nil {
		t.Errorf("without verdicts: %+v (%v)", page, err)
	}
}

// Figure 4 shows the pictures of its own grid, and the predictions of the runs with the first seed.
func TestShow_PicturesOfTheFirstSeed(t *testing.T) {
	s := tiny(t, Table3, Figure4)
	s.Seeds = []uint64{9, 7}
	p := planOf(t, s)
	f := madeUp(p)
	for _, r := range f.units[1].runs {
		says := "{" // of the other seed, which is not read
		if r.Seed == 9 {
			says = object(t, map[string]report.Scored{"shown": {Curves: eval.ByGroup[[]eval.CurvePoint]{
				All: []eval.CurvePoint{{}}},
				Drawn: []report.ShownBag{{ID: "scenes-test-000003"}}}})
		}
		put(t, says, r.Name, run.ResultFile)
	}
	shown := expect.Value(p.show(t.Context(), &Options{}, f, p.part(Figure4)))(t)
	c := shown.Compared[0]
	if c.Title != "Predictions of the arms with MIL, seed 9" || len(c.Arms) != 4 || len(c.Arms[0].Curves.All) > 0 ||
		len(c.Bags) != 1 || len(c.Bags[0].JPEG) == 0 {
		t.Errorf("%+v", c)
	}
	put(t, "{", f.units[1].runs[0].Name, run.ResultFile)
	expect.Refusal(t, expect.ErrorOf(p.page(t.Context(), &Options{}, f, nil)), run.ResultFile)
}

// Runs that several grids have are taken once, whatever part is made of them.
func TestRuns_AreTakenOnce(t *testing.T) {
	s := Defaults("r")
	s.Seeds, s.Only = []uint64{1}, []Part{Table2, EM}
	p := planOf(t, s)
	f := madeUp(p)
	seen := map[string]bool{}
	for u, r := range p.runs(f) {
		if seen[r.Name] {
			t.Errorf("%s is taken twice", r.Name)
		}
		seen[r.Name] = true
		if (u.parts[0] == EM) != (r.Arm == string(recipe.EM)) {
			t.Errorf("%s is of %+v", r.Name, u)
		}
	}
	if len(seen) != 4*8+1 {
		t.Errorf("%d runs, want those of Table 2 and that of EM", len(seen))
	}
}

// The facts say what nets start from, and the way to run it again names what is not as usual.
func TestRerun_NamesTheSettings(t *testing.T) {
	s := shaped(t)
	s.Size, s.Seeds = Smoke, []uint64{3}
	for only, says := range map[Part]string{"": "", Figure3: " `reproduce.only` figure3"} {
		s.Only = nil
		if only != "" {
			s.Only = []Part{only}
		}
		p := expect.Value(New(s))(t)
		if got, want := p.rerun()[0], fmt.Sprintf("nmn reproduce `reproduce.size` smoke `reproduce.seeds` 3 "+
			"`reproduce.coco` %s `reproduce.msrvtt` %s `reproduce.init` %s%s", s.COCO, s.MSRVTT, s.Init, says); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		p.Settings.Init = ""
		if got := p.facts(&found{units: make([]foundUnit, len(p.Units))}, nil)[2]; got.Name != "weights" ||
			!strings.Contains(got.Meaning, "none: nets start at random") {
			t.Errorf("without weights: %+v", got)
		}
	}
	small := Defaults(t.TempDir())
	small.Size = Smoke
	if lead := planOf(t, small).lead(); len(lead) != 2 || !strings.Contains(lead[1], "figures mean nothing") {
		t.Errorf("of the size smoke: %q", lead)
	}
}

// Every figure of a run and of a captioner is a result, in percent where the paper prints percent.
func TestResults_AreTheFiguresOfRuns(t *testing.T) {
	s := Defaults("r")
	s.Seeds, s.Only = []uint64{5}, []Part{Table3, Table4}
	p := planOf(t, s)
	f := madeUp(p)
	mil := &f.units[0].runs[len(f.units[0].runs)-1]
	mil.Result.Observed = &eval.Measures{Human: &eval.Human{AP: eval.ByGroup[eval.Number]{All: .25}}}
	mil.Result.Words = []eval.Word{{Word: "dog", WordMeasures: eval.WordMeasures{Human: &eval.Agreement{AP: .75}}},
		{Word: "cat"}}
	plain := &f.units[0].runs[0]
	plain.Result.Truth = nil
	truth := f.units[0].runs[1].Result.Truth // what is not defined gives no result
	truth.AP.All, truth.AtThreshold.All.OF1 = eval.Undefined(), eval.Undefined()
	var got strings.Builder
	all := p.results(f)
	for _, r := range all {
		if r.Seed != 5 || r.Data != claims.MovingScenes {
			t.Errorf("%+v", r)
		}
		if r.Arm == "stage1" || r.Arm == "nmn-fd-mil" || r.Part == "table4" {
			fmt.Fprintf(&got, "%s %s at %g, %s of %s: %.4f\n", r.Part, r.Arm, r.Missing, r.Metric, r.Words, r.Value)
		}
	}
	sameText(t, got.String(), `table3 stage1 at 0, AP of all: 5.0000
table3 stage1 at 0, AP of NN: 5.0100
table3 stage1 at 0, OF1 of all: 6.2000
table3 stage1 at 0, Brier of all: 0.0610
table3 nmn-fd-mil at 0, AP of all: 5.0000
table3 nmn-fd-mil at 0, AP of NN: 5.0100
table3 nmn-fd-mil at 0, AP observed of all: 25.0000
table3 nmn-fd-mil at 0, AP truth of all: 7.0000
table3 nmn-fd-mil at 0, OF1 of all: 7.2000
table3 nmn-fd-mil at 0, Brier of all: 0.0710
table3 nmn-fd-mil at 0, AP of word:dog: 75.0000
table4 baseline-mil at 0.4, CIDEr of all: 10.0000
table4 baseline-mil at 0.4, Bleu-4 of all: 10.3000
table4 baseline-mil at 0.4, ROUGE-L of all: 10.1000
table4 baseline-mil at 0.4, METEOR of all: 10.2000
table4 nmn-fi-mil at 0.4, CIDEr of all: 20.0000
table4 nmn-fi-mil at 0.4, Bleu-4 of all: 20.3000
table4 nmn-fi-mil at 0.4, ROUGE-L of all: 20.1000
table4 nmn-fi-mil at 0.4, METEOR of all: 20.2000
table4 nmn-fd-mil at 0.4, CIDEr of all: 30.0000
table4 nmn-fd-mil at 0.4, Bleu-4 of all: 30.3000
table4 nmn-fd-mil at 0.4, ROUGE-L of all: 30.1000
table4 nmn-fd-mil at 0.4, METEOR of all: 30.2000
`)
	expect.OK(t, claims.Validate(all))
}
