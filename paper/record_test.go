package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioner/session"
	"nmn/eval"
	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/paper/appendix"
	"nmn/paper/claims"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// A run without a result has its folder in the record, and one whose result cannot be read is an error.
func TestRecord_OfRunsWhoseResultIsGoneOrDamaged(t *testing.T) {
	p := &Plan{Settings: Settings{Dir: t.TempDir()}}
	dir := filepath.Join(p.Settings.Dir, "scenes", "baseline")
	if r, err := p.recordRun(dir); err != nil || r.Folder != "scenes/baseline" || r.Fingerprint != "" {
		t.Errorf("%+v (%v)", r, err)
	}
	put(t, "{", dir, run.ResultFile)
	if _, err := p.recordRun(dir); err == nil {
		t.Error("a damaged result is taken")
	}
	put(t, `{"fingerprint": "f", "steps": 7, "seconds": 2}`, dir, run.ResultFile)
	if r, err := p.recordRun(dir); err != nil || r.Fingerprint != "f" || r.Steps != 7 || r.Seconds != 2 ||
		r.Program == nil {
		t.Errorf("%+v (%v)", r, err)
	}
	for name, result := range map[string]any{"net": run.Outcome{Fingerprint: "f", Steps: 7, Build: run.ThisBuild()},
		"captioner": session.Outcome{Fingerprint: "f", Steps: 7, Build: run.ThisBuild()}} {
		put(t, object(t, result), dir, run.ResultFile)
		if r, err := p.recordRun(dir); err != nil || r.Fingerprint != "f" || r.Steps != 7 || r.Program != nil {
			t.Errorf("%s by this program: %+v (%v)", name, r, err)
		}
	}
}

// The record has all that is needed to repeat the run, and every figure except the figures of single words.
func TestRecord_HoldsWhatWasFound(t *testing.T) {
	s := Defaults(filepath.Join(t.TempDir(), "r"))
	s.Seeds, s.Only = []uint64{1}, []Part{Observed, Figure3}
	p := planOf(t, s)
	p.Parts[1].Skip = "no pen"
	f := madeUp(p)
	f.units[0].runs[0].Result.Words = []eval.Word{{Word: "dog", WordMeasures: eval.WordMeasures{
		Human: &eval.Agreement{AP: .75}}}}
	for i, r := range f.units[0].runs {
		put(t, fmt.Sprintf(`{"fingerprint": "f%d", "steps": %d, "seconds": 2.5}`, i, 10+i), r.Name, run.ResultFile)
	}
	put(t, "file\tbytes\tmodified\tsha256\na.json\t3\t2026-01-02T03:04:05Z\td\nimages\t0\t2026-01-02T03:04:05Z\t\n",
		s.Dir, "scenes", run.DataFile)
	out := &Outcome{Results: p.results(f), Verdicts: []claims.Verdict{{ID: "mil", Claim: "MIL gains", Where: "Table 1",
		Data: "scenes", Outcome: claims.Confirmed, Reason: "why", Comparisons: make([]claims.Comparison, 2)}}}
	r := expect.Value(p.record(t.Context(), f, out))(t)
	if r.Form != planForm || r.Program != run.ThisBuild() || r.Settings.Dir != s.Dir ||
		!slices.Equal(r.Parts, []recordedPart{{Figure3, "", ""}, {Observed, "scenes", "no pen"}}) {
		t.Errorf("%+v", r)
	}
	u := r.Units[0]
	if len(r.Units) != 1 || u.Folder != "scenes" || u.Config != "config of scenes" || len(u.Data) != 2 || u.Seconds != 5 ||
		len(u.Files) != 1 || u.Files[0].Name != "a.json" || len(u.Runs) != 2 || u.Runs[1].Fingerprint != "f1" ||
		u.Runs[1].Steps != 11 || u.Runs[1].Folder != "scenes/"+filepath.Base(f.units[0].runs[1].Name) {
		t.Errorf("%+v", r.Units)
	}
	if v := r.Verdicts; len(v) != 1 || v[0].ID != "mil" || v[0].Claim != "MIL gains" || v[0].Where != "Table 1" ||
		v[0].Data != "scenes" || v[0].Outcome != claims.Confirmed || v[0].Reason != "why" || len(v[0].Comparisons) != 2 {
		t.Errorf("verdicts %+v", v)
	}
	if len(r.Results) != len(out.Results)-1 || slices.ContainsFunc(r.Results, func(r claims.Result) bool {
		return strings.Contains(r.Words, "dog")
	}) {
		t.Errorf("%d of %d results", len(r.Results), len(out.Results))
	}
	put(t, "nonsense", s.Dir, "scenes", run.DataFile)
	expect.Refusal(t, expect.ErrorOf(p.record(t.Context(), f, out)), run.DataFile)
	remove(t, s.Dir, "scenes", run.DataFile)
	put(t, "{", f.units[0].runs[1].Name, run.ResultFile)
	expect.Refusal(t, expect.ErrorOf(p.record(t.Context(), f, out)), run.ResultFile)
	expect.Refusal(t, expect.ErrorOf(p.write(t.Context(), &Options{}, f)), run.ResultFile)
	remove(t, f.units[0].runs[1].Name)
	if _, err := p.record(ended(t), f, out); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// What the nets of EM and of joint training score is kept, and taken again for the same net alone.
func TestLikelihood_IsKeptByFingerprint(t *testing.T) {
	p := &Plan{Settings: Settings{Dir: t.TempDir()}}
	r := &report.Run{Name: filepath.Join(p.Settings.Dir, "scenes", "noise-40", "em")}
	known := map[string]likelihood{"scenes/noise-40/em": {"f", 3.5}}
	expect.Refusal(t, expect.ErrorOf(p.likelihood(t.Context(), &Options{}, r, known)), "is gone")
	put(t, `{"fingerprint": "f"}`, r.Name, run.ResultFile)
	if nll, err := p.likelihood(t.Context(), &Options{}, r, known); err != nil || nll != 3.5 {
		t.Errorf("%g, %v", nll, err)
	}
	put(t, `{"fingerprint": "g"}`, r.Name, run.ResultFile) // another net, which has no checkpoint here
	if nll, err := p.likelihood(t.Context(), &Options{}, r, known); err == nil {
		t.Errorf("%g of another net", nll)
	}
	put(t, "{", r.Name, run.ResultFile)
	expect.Refusal(t, expect.ErrorOf(p.likelihood(t.Context(), &Options{}, r, known)), run.ResultFile)
}

func TestEM_ComparesWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := Defaults(filepath.Join(t.TempDir(), "r"))
	s.Seeds, s.Only = []uint64{1}, []Part{EM}
	p := planOf(t, s)
	f := madeUp(p)
	known := map[string]likelihood{}
	for i, r := range f.units[0].runs {
		put(t, `{"fingerprint": "f"}`, r.Name, run.ResultFile)
		if r.Arm == string(recipe.FI) || r.Arm == string(recipe.EM) {
			known["scenes/"+filepath.Base(r.Name)] = likelihood{"f", float64(i)}
		}
	}
	expect.OK(t, durable.SaveJSON(filepath.Join(s.Dir, likelihoodFile), known))
	expect.OK(t, p.compareEM(t.Context(), &Options{}, f))
	var nets []string
	for _, r := range f.em {
		if r.Metric == claims.NLL {
			nets = append(nets, fmt.Sprintf("%s %s %s %g %d %s %g", r.Part, r.Data, r.Arm, r.Missing, r.Seed, r.Words, r.Value))
		}
	}
	if want := []string{"em scenes nmn-fi 0.4 1 all 2", "em scenes em 0.4 1 all 3"}; !slices.Equal(nets, want) {
		t.Errorf("likelihoods %q, want %q", nets, want)
	}
	if len(f.small) != 1 || f.small[0].Seed != 1 || len(f.em) < 2+2 {
		t.Errorf("of the small problem %+v and %+v", f.small, f.em)
	}
	f.small = []appendix.Solution{{Seed: 1, GradientGap: 2e-8, RateGap: 3e-3, LikelihoodGap: 4e-5, Rounds: 60,
		Gradients: 700}}
	var b strings.Builder
	expect.OK(t, report.Write(&b, report.Markdown, p.emTables(f)...))
	sameText(t, b.String(), `**A small problem, solved completely in both ways**

| seed | gap of gradients | gap of noise rates | gap of likelihoods, nats a bag | rounds of EM | gradients of joint `+
		`training |
|--:|--:|--:|--:|--:|--:|
| 1 | 2.0e-08 | 3.0e-03 | 4.0e-05 | 60 | 700 |

A logistic classifier of two classes on 400 bags, with noise that depends on the true label. Each round `+
		`of EM fits the classifier completely.

**How well nets explain their noisy training labels, after equal numbers of epochs**

| arm | seed | -log p(z\|I), nats a bag |
|:--|--:|--:|
| NMN-FI | 1 | 2.0000 |
| EM | 1 | 3.0000 |
`)
	shown, err := p.show(t.Context(), &Options{}, f, p.part(EM))
	if err != nil || len(shown.Tables) != 3 || len(shown.Notes) != 1 || !strings.Contains(shown.Notes[0], "is a round") {
		t.Errorf("%+v, %v", shown, err)
	}
	put(t, "{", s.Dir, likelihoodFile)
	expect.Refusal(t, expect.ErrorOf(p.write(t.Context(), &Options{}, f)), likelihoodFile)
}

// Figures with which no claim can be checked end it, before anything is written.
func TestWrite_RefusesFiguresThatCannotBe(t *testing.T) {
	s := Defaults(filepath.Join(t.TempDir(), "r"))
	s.Seeds, s.Only = []uint64{1}, []Part{Table3}
	p := planOf(t, s)
	f := madeUp(p)
	f.units[0].runs[3].Noise = 2
	expect.Refusal(t, expect.ErrorOf(p.write(t.Context(), &Options{}, f)), "the level is 2")
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("something was written")
	}
}

// Files are written as people and programs read them.
func TestContents_AreTheFilesOfThePage(t *testing.T) {
	s := Defaults(filepath.Join(t.TempDir(), "r"))
	s.Seeds, s.Only = []uint64{1}, []Part{Table3, Figure3}
	p := planOf(t, s)
	f := madeUp(p)
	f.units[0].config = "a < b & c"
	out := &Outcome{Page: pageOf(t, p, f)}
	files := expect.Value(p.contents(t.Context(), f, out))(t)
	var names []string
	for _, file := range files {
		names = append(names, file.name)
	}
	if !slices.Equal(names, []string{RecordFile, MarkdownFile, PageFile}) {
		t.Errorf("files %s", names)
	}
	record := string(out.Record)
	if !strings.Contains(record, `"config": "a < b & c"`) || !strings.HasPrefix(record, "{\n  \"") ||
		string(files[0].content) != record {
		t.Errorf("record %.300s", record)
	}
}

func TestSummary_HasALineForEachVerdict(t *testing.T) {
	o := &Outcome{Verdicts: []claims.Verdict{{ID: "mil", Data: "scenes", Outcome: claims.Confirmed},
		{ID: "published", Outcome: claims.NotTested}}}
	want := []report.Explained{{Name: "mil, scenes", Meaning: "confirmed"},
		{Name: "published", Meaning: string(claims.NotTested)}}
	if got := o.Summary(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestInterrupted_IsWhatEndsWithTheContext(t *testing.T) {
	broken := errors.New("broken")
	over := ended(t)
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{{over, nil, false}, {over, broken, true}, {over, fmt.Errorf("so: %w", run.ErrInterrupted), true},
		{t.Context(), broken, false}} {
		got := interrupted(c.ctx, c.err)
		if errors.Is(got, run.ErrInterrupted) != c.want || (got == nil) != (c.err == nil) || !errors.Is(got, c.err) ||
			strings.Count(fmt.Sprint(got), run.ErrInterrupted.Error()) > 1 {
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
}

// Scores that are not of each net and seed, and those that cannot be read, are refused.
func TestCaptions_ScoresAreOfEachNetAndSeed(t *testing.T) {
	s := Defaults(t.TempDir())
	s.Seeds, s.Only = []uint64{1, 2}, []Part{Table4}
	p := planOf(t, s)
	u, scores := &p.Units[0], madeUp(p).units[0].captions
	file := filepath.Join(p.folder(u), scoresFile)
	if unit, err := p.readCaptions(u); err != nil || unit.missing != 1 || unit.captions != nil {
		t.Errorf("without scores: %+v (%v)", unit, err)
	}
	save := func() {
		t.Helper()
		b := expect.Value(json.Marshal(scores))(t)
		put(t, string(b), file)
	}
	save()
	unit, err := p.readCaptions(u)
	if err != nil || unit.missing != 0 || len(unit.captions.Rows) != 3 || !strings.Contains(unit.config, "\n---\n") {
		t.Errorf("with scores: %+v (%v)", unit, err)
	}
	if tasks, err := p.Tasks(); err != nil || len(tasks) != 1 || !tasks[0].Complete || tasks[0].After != -1 ||
		tasks[0].Folder != p.folder(u) || tasks[0].Data != claims.MovingScenes {
		t.Errorf("tasks %+v (%v)", tasks, err)
	}
	for name, change := range map[string]func(){
		"a seed is missing": func() { scores.Rows[2].Scores = scores.Rows[2].Scores[:1] },
		"a net is missing":  func() { scores.Rows = scores.Rows[:2] },
	} {
		change()
		save()
		if _, err := p.readCaptions(u); err == nil || !strings.Contains(err.Error(), file) ||
			!strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%s: %v", name, err)
		}
		scores = madeUp(p).units[0].captions
	}
	put(t, "{", file)
	expect.Refusal(t, expect.ErrorOf(p.readCaptions(u)), file)
	u.Captions.Nets.Data.TrainSize = -1
	expect.Refusal(t, expect.ErrorOf(p.recordUnit(t.Context(), u, unit)), "-1")
	remove(t, file)
	if unit, err := p.trainCaptions(t.Context(), &Options{}, u); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("captions of clips that cannot be made: %+v (%v)", unit, err)
	}
	msrvtt := clipsAndFrames(t)
	p = videoPlan(t, msrvtt, t.TempDir())
	if unit, err := p.readCaptions(&p.Units[1]); err != nil || unit.missing != 3 {
		t.Errorf("of three captioners none is trained: %+v (%v)", unit, err)
	}
}
