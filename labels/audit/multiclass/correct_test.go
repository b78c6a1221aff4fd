package multiclass

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/labels"
	"nmn/labels/audit"
)

// corrected is a report of four rows with three suspects, which are in no order of P.
func corrected() *Report {
	return &Report{Input: &Input{Rows: 4, Classes: 3, Labels: []int32{0, 1, 2, 0}},
		Suspects: []Suspect{{Row: 3, Given: 0, Suggested: 1, Wrong: .99, P: .5},
			{Row: 2, Given: 2, Suggested: 1, Wrong: .98, P: .75}, {Row: 0, Given: 0, Suggested: 2, Wrong: .9, P: .75}}}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	content := expect.Value(os.ReadFile(path))(t)
	return string(content)
}

// The surest come first, equal ones in the order of rows, and as many as keep the mean at the precision.
func TestCorrect_AsManyAsThePrecisionAllows(t *testing.T) {
	for _, test := range []struct {
		precision, mean float64
		changed         int
		labels, changes string
	}{
		{.75, .75, 2, "2,1,1,0", "1,0,2,0.9,0.75,R,v1\n3,2,1,0.98,0.75,R,v1\n"},
		{.6, 2. / 3, 3, "2,1,1,1", "1,0,2,0.9,0.75,R,v1\n3,2,1,0.98,0.75,R,v1\n4,0,1,0.99,0.5,R,v1\n"},
		{.8, 0, 0, "0,1,2,0", ""},
	} {
		r, path := corrected(), filepath.Join(t.TempDir(), "fixed.csv")
		for range 2 { // a second time over its own files
			if err := r.Correct(labels.Correction{Apply: labels.ApplyForce, Precision: test.precision, Labels: path,
				Version: "v1"}); err != nil {
				t.Fatal(err)
			}
		}
		if want := "label\n" + strings.ReplaceAll(test.labels, ",", "\n") + "\n"; contentOf(t, path) != want {
			t.Errorf("precision %g: the labels are %q, want %q", test.precision, contentOf(t, path), want)
		}
		rule := "expected precision at least " + labels.Digits(test.precision)
		want := strings.Join(changeColumns, ",") + "\n" + strings.ReplaceAll(test.changes, ",R,", ","+rule+",")
		if got := contentOf(t, r.Outcome.Changes); got != want {
			t.Errorf("precision %g: the record is %q, want %q", test.precision, got, want)
		}
		if r.Outcome.Changed != test.changed || test.changed > 0 && float64(r.Outcome.ExpectedPrecision) != test.mean {
			t.Errorf("precision %g: outcome %+v", test.precision, *r.Outcome)
		}
		if r.Labels[0] != 0 || r.Suspects[0].Row != 3 {
			t.Error("the labels or the suspects of the report have changed")
		}
	}
}

func TestCorrect_WritesIntegersOf64Bits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fixed.NPY")
	expect.OK(t, corrected().Correct(labels.Correction{Apply: labels.ApplyForce, Precision: .7, Labels: path}))
	content := contentOf(t, path)
	if !strings.HasPrefix(content, "\x93NUMPY") || len(content) < 4*8 {
		t.Fatalf("%q is no array", content)
	}
	for i, want := range []uint64{2, 1, 1, 0} {
		if got := binary.LittleEndian.Uint64([]byte(content[len(content)-(4-i)*8:])); got != want {
			t.Errorf("label %d is %d, want %d", i, got, want)
		}
	}
}

func TestCorrect_OverwritesNoFileOfOthers(t *testing.T) {
	for _, foreign := range []string{"", "id,original\n", strings.Repeat("my own notes ", 20)} {
		dir := t.TempDir()
		changes, fixed := filepath.Join(dir, "fixed.changes.csv"), filepath.Join(dir, "fixed.csv")
		expect.OK(t, os.WriteFile(changes, []byte(foreign), 0o600))
		err := corrected().Correct(labels.Correction{Apply: labels.ApplyForce, Precision: .7, Labels: fixed})
		var wrong *setting.Error
		if !errors.As(err, &wrong) || contentOf(t, changes) != foreign {
			t.Errorf("%v, and the file holds %q", err, contentOf(t, changes))
		}
		if _, err := os.Stat(fixed); err == nil {
			t.Error("labels were written without a record")
		}
	}
}

// Scores of nets that may have learned the noise need decisions, however many labels there are.
func TestCorrect_MemorisedNoiseNeedsDecisions(t *testing.T) {
	r := corrected()
	r.Rows = labels.EnoughToApply
	r.Labels = append(r.Labels, make([]int32, r.Rows-len(r.Labels))...)
	careful := labels.Correction{Apply: labels.ApplyCareful, Precision: .7,
		Labels: filepath.Join(t.TempDir(), "fixed.csv")}
	expect.OK(t, r.Correct(careful))
	r.Memorised = true
	if err := r.Correct(careful); err == nil || !strings.Contains(err.Error(), "decisions on 30 suspects (missing: 30)") {
		t.Errorf("without decisions: %v", err)
	}
	r.Decisions = Decisions{}
	for i := range int32(audit.EnoughDecisions) {
		r.Decisions[4+i] = 0
	}
	expect.OK(t, r.Correct(careful))
}
