package multiclass

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/labels"
)

// auditedRows is a report of three classes, in which the first three rows have wrong labels.
func auditedRows(t *testing.T) *Report {
	t.Helper()
	in := &Input{Rows: 90, Classes: 3, Words: []string{"cat", "dog", "cow"}}
	for i := range in.Rows {
		p := []float32{.05, .05, .05}
		p[i%3] = .9
		in.Scores, in.Labels = append(in.Scores, p...), append(in.Labels, int32(i%3))
	}
	in.Labels[0], in.Labels[1], in.Labels[2] = 1, 2, 0
	in.Labels[5] = table.UnknownClass
	return expect.Value(Audit(t.Context(), in, DefaultOptions()))(t)
}

func readDecisions(t *testing.T, r *Report, rows string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "decisions.csv")
	expect.OK(t, os.WriteFile(path, []byte("id,given,suggested,decision\n"+rows), 0o600))
	return r.ReadDecisions(path)
}

// Decisions change labels without Apply, and suspects with one are not corrected by it.
func TestCorrect_CarriesDecisionsOut(t *testing.T) {
	r := auditedRows(t)
	expect.OK(t, readDecisions(t, r, "3,cat,cow,reject\n1,dog,cow,accept\n40,cat,dog,accept\n"))
	if want := (Decisions{0: 2, 2: 0, 39: 1}); !maps.Equal(r.Decisions, want) {
		t.Fatalf("decisions %v, want %v", r.Decisions, want)
	}
	path := filepath.Join(t.TempDir(), "fixed.csv")
	expect.OK(t, r.Correct(labels.Correction{Labels: path, Version: "v1"}))
	if o := r.Outcome; o.Changed != 2 || o.Accepted != 2 || o.Rejected != 1 || o.Automatic != 0 || o.Reason != "" {
		t.Errorf("outcome %+v", *o)
	}
	changes := contentOf(t, r.Outcome.Changes)
	if !strings.Contains(changes, "\n1,1,2,") || !strings.Contains(changes, "\n40,0,1,") ||
		strings.Count(changes, ",accepted,v1\n") != 2 {
		t.Errorf("changes %s", changes)
	}
	expect.OK(t, r.Correct(labels.Correction{Apply: labels.ApplyForce, Precision: .3, Labels: path}))
	lines := strings.Split(contentOf(t, path), "\n")
	if lines[1] != "2" || lines[2] != "1" || lines[3] != "0" || lines[40] != "1" || r.Outcome.Automatic != 1 {
		t.Errorf("labels %q, outcome %+v", lines[:4], *r.Outcome)
	}
}

func TestReadDecisions_RefusesWhatIsForOtherLabels(t *testing.T) {
	r := auditedRows(t)
	for rows, says := range map[string]string{
		"1,cat,dog,accept\n":                   "decisions.csv:2: sample \"1\" was decided when its class was cat; it is dog now",
		"6,cow,dog,accept\n":                   "it is unknown now",
		"1,dog,bee,accept\n":                   "there is no class \"bee\"",
		"91,dog,cat,accept\n":                  "no row has the id \"91\"",
		"1,dog,dog,accept\n":                   "want another class as suggested, or reject",
		"1,dog,cat,accept\n1,dog,cow,accept\n": "decisions.csv:3: sample \"1\" has a decision already",
		"1,dog,cat,yes\n":                      "want accept or reject",
	} {
		if err := readDecisions(t, r, rows); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", rows, err, says)
		}
	}
	if r.Decisions != nil {
		t.Error("the report has kept decisions that are refused")
	}
}
