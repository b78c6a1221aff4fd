package doctor

import (
	"log/slog"
	"strings"
	"testing"
)

func TestWriteFindings_ShowsThreeExamplesAndPaintsErrors(t *testing.T) {
	findings := []Finding{
		{Weight: Error, Text: "broken pictures: 4", Cure: "replace them", Examples: []string{"a", "b", "c", "d"}},
		{Weight: Note, Text: "a word is rare", Cure: "none is needed"},
	}
	var b strings.Builder
	if err := WriteFindings(&b, findings, strings.ToUpper); err != nil {
		t.Fatal(err)
	}
	want := "ERROR: broken pictures: 4\n    a\n    b\n    c\n    ... (`doctor.json` tells more)\n    cure: replace them\n" +
		"note: a word is rare\n    cure: none is needed\nerrors 1, warnings 0, notes 1\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestWriteData_OfNothingIsNothing(t *testing.T) {
	var b strings.Builder
	if err := (&Report{}).WriteData(&b); err != nil || b.Len() != 0 {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

func TestOpening_HoldsBagsThatAreLeftOutAgainstTheLimit(t *testing.T) {
	var passed strings.Builder
	o := Listen(slog.NewTextHandler(&passed, &slog.HandlerOptions{Level: slog.LevelWarn}))
	log := o.Logger()
	log.Warn("picture is missing", "bag", "7.jpg", "error", "no such file")
	log.Warn("clip is left out", "clip", "v8")
	log.Warn("captions", "file", "c.json", "warnings", "2 are empty")
	log.Info("data", "bags", 3)
	for limit, want := range map[int]Weight{1: Error, 2: Warning} {
		found := o.Findings(limit)
		if len(found) != 2 || found[0].Kind != "missing-files" || found[0].Weight != want || len(found[0].Examples) != 2 || found[0].Examples[0] != "7.jpg: no such file" {
			t.Errorf("with a limit of %d: %+v", limit, found)
		}
		if found[1].Kind != "reader" || found[1].Weight != Note || found[1].Text != "captions c.json: 2 are empty" {
			t.Errorf("the reader's warning is %+v", found[1])
		}
	}
	if got := passed.String(); strings.Contains(got, "7.jpg") || !strings.Contains(got, "2 are empty") {
		t.Errorf("the log has %q", got)
	}
}
