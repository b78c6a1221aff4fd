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
	want := "ERROR: broken pictures: 4\n    a\n    b\n    c\n    ... (`doctor.json` lists more)\n    fix: replace " +
		"them\nnote: a word is rare\n    fix: none is needed\nerrors 1, warnings 0, notes 1\n"
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
	log.Info("data", "samples", 3)
	for limit, want := range map[int]Weight{1: Error, 2: Warning} {
		found := o.Findings(&Report{Samples: "clips", Files: "frames"}, limit)
		if len(found) != 2 || found[0].Kind != "missing-files" || found[0].Weight != want || len(found[0].Examples) != 2 ||
			found[0].Examples[0] != "7.jpg: no such file" ||
			!strings.HasPrefix(found[0].Text, "annotated clips without frames or captions: 2; training leaves ") {
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

func TestWrite_NamesOfFilesCannotActOnATerminal(t *testing.T) {
	var b strings.Builder
	r := Report{Splits: []SplitReport{{Name: "training"}}}
	r.Splits[0].Labels.Most = []ClassSize{{Word: "dog\x1b[2J", Bags: 3}}
	if err := r.WriteData(&b); err != nil {
		t.Fatal(err)
	}
	findings := []Finding{{Weight: Note, Text: "a\x1b[2Jb", Cure: "rename c\x1b[2Jd", Examples: []string{"e\nerror: f"}}}
	if err := WriteFindings(&b, findings, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`dog\x1b[2J 3`, `a\x1b[2Jb`, `c\x1b[2Jd`, `e\nerror: f`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %q", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("there is an escape in %q", b.String())
	}
}
