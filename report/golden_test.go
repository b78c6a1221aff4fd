package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		expect.OK(t, os.WriteFile(path, got, 0o644))
	}
	want := expect.Value(os.ReadFile(path))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./report -update writes it anew):\n%s", name, got)
	}
}

// spreadOver makes a figure for each group: all for the mean and a little apart for the groups.
func spreadOver(all float64) eval.ByGroup[eval.Number] {
	g := eval.ByGroup[eval.Number]{Group: make([]eval.Number, text.POSCount), All: eval.Number(all)}
	for p := range g.Group {
		g.Group[p] = eval.Number(all + float64(p-3)/50)
	}
	return g
}

func sameF1(v float64) eval.ByGroup[eval.F1] {
	n := eval.Number(v)
	f := eval.F1{OP: n, OR: n, OF1: n, CP: n - .02, CR: n - .02, CF1: n - .02, MacroF1: n - .03}
	g := eval.ByGroup[eval.F1]{Group: make([]eval.F1, text.POSCount), All: f}
	for p := range g.Group {
		g.Group[p] = f
	}
	return g
}

func labelled(ap float64) *eval.MultiLabel {
	return &eval.MultiLabel{
		AP: spreadOver(ap), StableAP: spreadOver(ap), AtThreshold: sameF1(ap - .1), AtPlugIn: sameF1(ap - .05),
		AtTopK: sameF1(ap - .15), AtTopKThreshold: sameF1(ap - .2), Brier: spreadOver(.3 - ap/4), ECE: spreadOver(.06),
		ConfidenceECE: spreadOver(.05),
	}
}

// drawnResult is an evaluation whose figures follow from one number.
func drawnResult(ap float64) *eval.Result {
	r := &eval.Result{Bags: 200, Classes: 3, CaptionsPerSample: 5, TopK: 3, GroupSize: publishedSizes(1)}
	r.Threshold, r.PlugIn = .5, .312
	r.Human = &eval.Human{AP: spreadOver(ap - .01), Precision: spreadOver(.7), Recall: spreadOver(.4),
		PrecisionAtHumanRecall: spreadOver(ap + .05)}
	r.Labels, r.Truth = labelled(ap-.02), labelled(ap)
	r.Transition = &eval.Transition{Q01: spreadOver(.3), Q10: spreadOver(.1), T01: spreadOver(.34),
		T10: spreadOver(.16), Q01Error: spreadOver(.07), Q10Error: spreadOver(.06)}
	for i, w := range []string{"cat", "run*ning", "a|the"} {
		n := eval.Number(ap - float64(i)/10)
		human := &eval.Agreement{AP: n, Precision: .7, Recall: .4, PrecisionAtHumanRecall: n + .1, Mentions: 40}
		word := &eval.WordLabels{Positives: 20 + i, AP: n, StableAP: n, F1: n - .1}
		r.Words = append(r.Words, eval.Word{
			Word: w, POS: text.POS(i).String(), WordMeasures: eval.WordMeasures{Human: human, Labels: word, Truth: word},
			Q01: .3 + eval.Number(i)/10, Q10: .1, T01: .34, T10: eval.Undefined(),
		})
	}
	return r
}

// drawnRuns is an experiment of three arms at two levels of noise, three seeds, with MIL at one.
func drawnRuns(paper bool) []Run {
	var runs []Run
	for _, noise := range []float64{.8, .4} { // not in the order of the table
		for seed := range uint64(3) {
			for i, arm := range []string{nmnFD, Baseline, Stage1, "em"} {
				for _, mil := range []bool{true, false} {
					if mil && noise == .8 {
						continue
					}
					ap := .7 - noise/4 - float64(i)/50 + float64(seed)/100*float64(i+1)
					if mil {
						ap += .05
					}
					runs = append(runs, Run{Name: "run", Arm: arm, MIL: mil, Noise: noise, Seed: seed, PaperData: paper,
						Result: drawnResult(ap), ThresholdFrom: "validation", Audit: &AuditFigures{eval.Number(ap),
							eval.Number(ap + .1), eval.Number(ap - .1), .9, "own scores"}})
				}
			}
		}
	}
	return allTitled(runs...)
}

func laidOutAs(table int) func([]Run) (*Table, error) {
	return func(runs []Run) (*Table, error) { return PaperLayout(table, runs) }
}

func againstBaseline(runs []Run) (*Table, error) { return PairedTable(runs, Baseline) }

// videoRuns are arms at both levels of the paper's Table 3.
func videoRuns() []Run {
	var runs []Run
	for i, arm := range []string{Stage1, Baseline, nmnFI, nmnFD, "held-rates"} {
		for _, level := range []string{VideoLevel, FrameLevel} {
			result := drawnResult(.3 + float64(i)/50)
			result.CaptionsPerSample, result.GroupSize = 20, publishedSizes(3)
			runs = append(runs, Run{Name: "run", Arm: arm, MIL: level == VideoLevel, Level: level, PaperData: true,
				Result: result})
		}
	}
	return allTitled(runs...)
}

func TestTables_AreAsTheGoldenFiles(t *testing.T) {
	build := func(f func([]Run) (*Table, error), runs []Run) *Table {
		t.Helper()
		return expect.Value(f(runs))(t)
	}
	tables := map[string]*Table{
		"paper":      build(laidOutAs(2), drawnRuns(true)),
		"videos":     build(laidOutAs(3), videoRuns()),
		"experiment": build(ExperimentTable, drawnRuns(false)),
		"paired":     build(againstBaseline, drawnRuns(false)),
		"summary":    build(ExperimentTable, drawnRuns(false)).Summary(),
		"details":    build(ExperimentTable, drawnRuns(false)).Details(),
		"seeds":      build(SeedTable, drawnRuns(false)),
	}
	for name, table := range tables {
		for format, ending := range map[Format]string{Markdown: ".md", CSV: ".csv", JSON: ".json", Text: ".txt"} {
			golden(t, name+ending, []byte(written(t, format, table)))
		}
	}
	for table := 1; table <= 3; table++ {
		p := expect.Value(PublishedLayout(table))(t)
		golden(t, "published"+string(rune('0'+table))+".txt", []byte(written(t, Text, p)))
	}
}

func TestWriteRun_WritesPageAndRates(t *testing.T) {
	folder := t.TempDir()
	result := drawnResult(.6)
	r := &Run{ArmTitle: "NMN-FD", Name: "nmn-fd_40", Dataset: "scenes", Arm: nmnFD, MIL: true, Noise: .4, Seed: 7,
		Result: result, Config: "learning_rate: 0.001\nnote: \"```\"\n", Curve: drawnCurve(), Rates: result.NoiseRates(),
		Duration: 83 * time.Second}
	expect.OK(t, WriteRun(folder, r))
	page := expect.Value(os.ReadFile(filepath.Join(folder, HTMLFile)))(t)
	if string(page) != htmlOf(t, r) {
		t.Error("the file is not the page")
	}
	rates := expect.Value(os.ReadFile(filepath.Join(folder, RatesFile)))(t)
	golden(t, "q.csv", rates)
}

func TestWriteRun_BareRun(t *testing.T) {
	folder := t.TempDir()
	expect.OK(t, WriteRun(folder, &Run{Arm: Baseline}))
	files := expect.Value(os.ReadDir(folder))(t)
	if len(files) != 1 || files[0].Name() != HTMLFile {
		t.Errorf("files %v, want the page alone", files)
	}
	if err := WriteRun(filepath.Join(folder, "none"), &Run{}); err == nil || !strings.Contains(err.Error(), HTMLFile) {
		t.Errorf("folder that does not exist: %v", err)
	}
}

func TestExperimentTable_MeanAndSampleDeviation(t *testing.T) {
	table := expect.Value(ExperimentTable(drawnRuns(false)))(t)
	records := expect.Value(csv.NewReader(strings.NewReader(written(t, CSV, table))).ReadAll())(t)
	if records[0][3] != "AP (truth)" || records[0][4] != "AP (truth) sd" {
		t.Fatalf("header %v", records[0])
	}
	if row := records[1]; row[0] != "40" || row[1] != "stage 1" || row[2] != "3" {
		t.Fatalf("first row %v", row)
	}
	// stage 1 at 40 %: .56 and .03 more with each seed
	var mean, spread eval.Number
	expect.OK(t, json.Unmarshal([]byte("["+records[1][3]+","+records[1][4]+"]"), &[]any{&mean, &spread}))
	if math.Abs(float64(mean)-59) > 1e-9 || math.Abs(float64(spread)-3) > 1e-9 {
		t.Errorf("mean %v, deviation %v, want 59 and 3", mean, spread)
	}
}

func TestPairedTable_UsesCommonSeedsOnly(t *testing.T) {
	runs := []Run{
		{Arm: Baseline, Seed: 1, Result: drawnResult(.5)}, {Arm: Baseline, Seed: 2, Result: drawnResult(.6)},
		{Arm: nmnFI, Seed: 2, Result: drawnResult(.63)}, {Arm: nmnFI, Seed: 3, Result: drawnResult(.9)},
		{Arm: nmnFD, MIL: true, Seed: 1, Result: drawnResult(.7)},
	}
	table := expect.Value(PairedTable(runs, Baseline))(t)
	if len(table.Rows) != 1 {
		t.Fatalf("%d rows, want NMN-FI alone: NMN-FD with MIL has no baseline", len(table.Rows))
	}
	cells := table.Rows[0].Cells
	if cells[2].Text != "1" || cells[3].Text != "1/1" || math.Abs(float64(cells[4].Value)-3) > 1e-9 ||
		cells[4].Spread.Defined() {
		t.Errorf("row %+v, want 1 seed and +3.00 without a deviation", cells)
	}
}

// tablesOfRuns are the ways to make a table of runs.
var tablesOfRuns = map[string]func([]Run) (*Table, error){"paper": laidOutAs(2), "experiment": ExperimentTable,
	"paired": againstBaseline, "seeds": SeedTable}

func TestTables_RefuseASeedGivenTwice(t *testing.T) {
	runs := []Run{{Name: "a", Arm: Baseline, Result: drawnResult(.5)}, {Name: "b", Arm: Baseline, Result: drawnResult(.6)}}
	for name, f := range tablesOfRuns {
		if _, err := f(runs); err == nil || !strings.Contains(err.Error(), `"a" and "b"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTables_WithoutRunsOrTruth(t *testing.T) {
	for name, f := range tablesOfRuns {
		table, err := f([]Run{{Arm: Baseline}})
		if err != nil || len(table.Rows) != 0 {
			t.Errorf("%s of a run that was not evaluated: %d rows, %v", name, len(table.Rows), err)
		}
		written(t, Markdown, table)
	}
	r := drawnResult(.5)
	r.Truth, r.Transition, r.Human = nil, nil, nil
	table := expect.Value(ExperimentTable([]Run{{Arm: Baseline, Result: r}}))(t)
	for _, c := range table.Columns {
		if c.Name == "AP (truth)" || c.Name == "human AP" || c.Name == "q01 error" {
			t.Errorf("column %q without a figure", c.Name)
		}
	}
	if !strings.Contains(table.Notes[0], "labels of the test captions") {
		t.Errorf("note %q", table.Notes[0])
	}
}

func TestWrite_UnknownFormat(t *testing.T) {
	if err := Write(&bytes.Buffer{}, "html", &Table{}); err == nil {
		t.Error("html is written")
	}
}

func TestWrapped_BreaksBetweenWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"as it is", "as it is"},
		{"exactly ten", "exactly\nten"},
		{"just ten c", "just ten c"},
		{"θ* counts é", "θ* counts\né"},
		{"unbreakable-word is kept whole", "unbreakable-word\nis kept\nwhole"},
	} {
		if got := wrapped(c.in, 10); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
}

// written are tables in a format.
func written(t testing.TB, format Format, tables ...*Table) string {
	t.Helper()
	return said(t, func(w io.Writer) error { return Write(w, format, tables...) })
}

// said is what is written by a function.
func said(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, write(&b))
	return b.String()
}

// has fails for each part that a text lacks.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// lacks fails for each part that a text has.
func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
}

// titles are the titles of arms in the program, in the order of tables.
var titles = []struct{ arm, title string }{
	{Stage1, "stage 1"}, {Baseline, "baseline"}, {"baseline-early", "baseline, in time"}, {nmnFI, "NMN-FI"},
	{nmnFD, "NMN-FD"}, {"held-rates", "held rates"}, {"soft-labels", "soft labels"}, {"forward", "forward"},
	{"forward-true", "forward, true T"}, {"asl", "ASL"},
	{"ll-r", "LL-R"}, {"ll-ct", "LL-Ct"}, {"pruned", "pruned"}, {"clean", "clean labels"},
}

// titled gives a run the title and the place of its arm.
func titled(r Run) Run {
	r.ArmPlace = len(titles)
	for i, t := range titles {
		if t.arm == r.Arm {
			r.ArmTitle, r.ArmPlace = t.title, i
		}
	}
	return r
}

// allTitled gives them to all runs.
func allTitled(runs ...Run) []Run {
	out := make([]Run, len(runs))
	for i, r := range runs {
		out[i] = titled(r)
	}
	return out
}
