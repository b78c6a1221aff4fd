package run

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/report"
)

// What an experiment shows of a run is in its result file, and not in the outcome that is printed.
func TestReadShown_IsWhatTheResultFileHolds(t *testing.T) {
	dir := t.TempDir()
	shown := func(want *report.Scored) {
		t.Helper()
		if got, err := ReadShown(dir); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
	}
	shown(nil)
	want := &report.Scored{Against: "labels", Split: "test",
		Curves: eval.ByGroup[[]eval.CurvePoint]{All: []eval.CurvePoint{{Recall: .5, Precision: 1}}},
		Drawn:  []report.ShownBag{{ID: "a", Labels: []report.ShownLabel{{Word: "cat", P: .75, Kind: report.HitLabel}}}}}
	for _, s := range []*report.Scored{want, nil} {
		o := &Outcome{Arm: "baseline", Steps: 7, shown: s}
		must(t, o.write(dir))
		shown(s)
		read, err := ReadOutcome(dir)
		must(t, err)
		told, err := json.Marshal(o)
		if again, reading := json.Marshal(read); err != nil || reading != nil || string(again) != string(told) ||
			strings.Contains(string(told), "shown") {
			t.Errorf("%s is read as %s (%v, %v)", told, again, err, reading)
		}
	}
}
