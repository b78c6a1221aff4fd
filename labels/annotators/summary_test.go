package annotators

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels/rates"
)

func TestSummary_AsJSON(t *testing.T) {
	told := Annotator{Bags: 3, Shared: 2, Asked: 6, Given: 1, Q01: .25, Q01Interval: rates.Interval{Low: .125, High: .5},
		Q10: .0625, Q10Interval: rates.Interval{Low: .03125, High: .07},
		Told: true, Informedness: .6875, Accuracy: .75, Incorrect: .5, Missing: 1.5,
		Agreement: .2, Remarks: []Remark{NoBetter}}
	none := rates.Interval{Low: math.NaN(), High: math.NaN()}
	r := &Report{&Table{Input: Input{Rows: make([]Row, 4)}, Words: []string{"cat", "dog"},
		AnnotatorNames: []string{"ann", "bob"}, Outside: 5},
		&Result{Bags: 3, Classes: 2, Annotators: []Annotator{told, {Q01: .5, Q10: .5, Q01Interval: none, Q10Interval: none,
			Accuracy: math.NaN(), Agreement: math.NaN()}}, Prior: []float64{.25, .75}, Expected: []float64{1, 2}, PooledQ01: .3,
			PooledQ10: .1, Strength01: 7, Strength10: 9, Iterations: 12, Agreement: .6, Consensus: 4, Incorrect: 1, Missing: .5}}
	const annotators = `"annotators":[{"annotator":"ann","samples":3,"shared":2,"asked":6,"given":1,"q01":0.25,` +
		`"q01_interval":{"low":0.125,"high":0.5},"q10":0.0625,"q10_interval":{"low":0.03125,"high":0.07},` +
		`"informedness":0.6875,"accuracy":0.75,"expected_incorrect":0.5,"expected_missing":1.5,"agreement":0.2,` +
		`"remarks":["no better than chance"]},{"annotator":"bob","samples":0,"shared":0,"asked":0,"given":0,"q01":0.5,` +
		`"q01_interval":null,"q10":0.5,"q10_interval":null,"informedness":0,"accuracy":null,"expected_incorrect":0,` +
		`"expected_missing":0,"agreement":null,"remarks":[]}]}`
	// 1 of 4 labels is wrong, and .5 of 3.5 true ones are missing.
	want :=
		`{"samples":3,"labels":2,"rows":4,"labels_outside":5,"exclusive":false,"agreement":0.6,"all_annotators":{"q01":0.3,"q10":0.1,` +
			`"strength01":7,"strength10":9},"consensus":{"labels":4,"expected_incorrect":1,"expected_missing":0.5,` +
			`"expected_wrong":0.25,"expected_lacking":0.14285714285714285},"notes":[],"iterations":12,"classes":[` +
			`{"label":"cat","expected":1,"frequency":0.25,"slope":null,"offset":null},` +
			`{"label":"dog","expected":2,"frequency":0.75,"slope":null,"offset":null}],` + annotators
	if got, err := json.Marshal(r.Summary()); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	// With a classifier, and without any label.
	r.Prior, r.A, r.B, r.Consensus, r.Incorrect, r.Missing = nil, []float64{1.5, 2}, []float64{-.5, 0}, 0, 0, 0
	r.Result.Notes = []string{"n"}
	want =
		`{"samples":3,"labels":2,"rows":4,"labels_outside":5,"exclusive":false,"agreement":0.6,"all_annotators":{"q01":0.3,"q10":0.1,` +
			`"strength01":7,"strength10":9},"consensus":{"labels":0,"expected_incorrect":0,"expected_missing":0,` +
			`"expected_wrong":null,"expected_lacking":null},"notes":["n"],"iterations":12,"classes":[{"label":"cat",` +
			`"expected":1,"frequency":null,"slope":1.5,"offset":-0.5},{"label":"dog","expected":2,"frequency":null,"slope":2,` +
			`"offset":0}],` + annotators
	if got, err := json.Marshal(r.Summary()); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// tableOf writes rows as a file.
func tableOf(t *testing.T, in *Input) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("picture,annotator,labels\n")
	for _, r := range in.Rows {
		labels := []string{}
		for _, k := range r.Given {
			labels = append(labels, fmt.Sprint("label", k))
		}
		fmt.Fprintf(&text, "bag%d,%c,%s\n", r.Bag, 'A'+r.Annotator, strings.Join(labels, ";"))
	}
	return written(t, "labels.csv", text.String())
}

func TestAuditFiles_ReadsAndEstimates(t *testing.T) {
	c := crowd{bags: 1000, pairs: some(30, pair{.1, .02}, pair{.5, .1}), prior: frequencies(24, .1, .4), each: 3, seed: 1}
	in, _ := c.simulated()
	path := tableOf(t, &in)
	var words strings.Builder
	for k := range 24 {
		fmt.Fprintf(&words, "label%d, NN, 1\n", k)
	}
	r, err := AuditFiles(t.Context(), Files{Labels: path, Vocabulary: written(t, "words.txt", words.String())},
		DefaultOptions())
	expect.OK(t, err)
	want := estimated(t, in)
	for j, name := range r.AnnotatorNames {
		got, a := r.Result.Annotators[j], want.Annotators[name[0]-'A']
		if math.Abs(a.Q01-got.Q01) > 1e-9 || a.Bags != got.Bags {
			t.Errorf("annotator %s: %+v, want %+v", name, got, a)
		}
	}
	if !slices.Equal(r.Result.Notes, want.Notes) {
		t.Errorf("notes %q, want %q", r.Result.Notes, want.Notes)
	}
}

func TestAuditFiles_TellsWhatIsWrong(t *testing.T) {
	c := crowd{bags: 30, pairs: some(3, pair{.1, .02}, pair{.3, .1}), prior: frequencies(3, .2, .4), each: 2, seed: 1}
	in, _ := c.simulated()
	path, nothing := tableOf(t, &in), written(t, "l.csv", "picture,annotator,labels\na,x,\nb,x,\n")
	if _, err := AuditFiles(t.Context(), Files{Labels: "missing"}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "0 iterations") {
		t.Errorf("options: %v, want an error before any file is read", err)
	}
	words := written(t, "words.txt", "dog, NN, 3\n")
	if _, err := AuditFiles(t.Context(), Files{Labels: nothing, Vocabulary: words}, DefaultOptions()); !errors.Is(err,
		ErrUnidentified) {
		t.Errorf("no labels: %v", err)
	}
	bags := written(t, "bags.txt", "b\na\nc\n")
	table, err := Files{Labels: nothing, Bags: bags}.Read(t.Context())
	if err != nil || strings.Join(table.BagIDs, "") != "bac" {
		t.Errorf("bags %v (%v), want those of the list", table, err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for _, f := range []Files{{Labels: missing}, {Labels: path, Vocabulary: missing}, {Labels: path, Bags: missing},
		{Labels: path, Scores: missing + ".csv"}} {
		if _, err := AuditFiles(t.Context(), f, DefaultOptions()); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%v, want an error that names %s", err, missing)
		}
	}
}
