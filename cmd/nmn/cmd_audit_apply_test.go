package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	runaudit "nmn/run/audit"
)

// decisionsOn writes decisions on the surest n suspects of score files. It accepts the first ones.
func decisionsOn(t *testing.T, dir string, n, accepted int) string {
	t.Helper()
	text := "id,class,given,decision\n"
	for i, s := range readJSON(t, must(t, onScores("audit", dir, "--json", "--top",
		fmt.Sprint(n))...))["suspects"].([]any) {
		verdict, v := "reject", s.(map[string]any)
		if i < accepted {
			verdict = "accept"
		}
		text += fmt.Sprintf("%v,%v,%v,%s\n", v["id"], v["class"], v["given"], verdict)
	}
	path := filepath.Join(t.TempDir(), "decisions.csv")
	write(t, path, text)
	return path
}

// Few labels are corrected after decisions of a person only, or by force; what is refused writes nothing.
func TestAudit_AppliesToFewLabelsAfterDecisionsOnly(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	few, enough := decisionsOn(t, dir, 29, 29), decisionsOn(t, dir, 30, 30)
	for name, c := range map[string]struct {
		args []string
		says string // of a refusal
	}{
		"alone":        {[]string{"--apply"}, "on 30 suspects (missing: 30); decide on the page (--page)"},
		"careful":      {[]string{"--apply=careful"}, "at your own risk with --apply=force"},
		"29 decisions": {[]string{"--apply", "--decisions", few}, "on 30 suspects (missing: 1)"},
		"30 decisions": {[]string{"--apply", "--decisions", enough}, ""},
		"force":        {[]string{"--apply=force"}, ""},
		"pooled":       {[]string{"--apply=pooled"}, ""},
	} {
		out := t.TempDir()
		file := func(name string) string { return filepath.Join(out, name) }
		got := call(t, onScores("audit", dir, append(c.args, "--output", file("fixed.csv"), "--page", file("page.html"),
			"--suspects", file("suspects.csv"), "--json")...)...)
		if c.says == "" {
			if o, _ := readJSON(t, got.out)["correction"].(map[string]any); got.code != exitOK ||
				!(o["automatic"].(float64) > 20) {
				t.Errorf("%s: exit code %d, %s, %v", name, got.code, got.err, o)
			}
			continue
		}
		if left, err := os.ReadDir(out); got.code != exitUsage || !strings.Contains(got.err, c.says) || err != nil ||
			len(left) > 0 {
			t.Errorf("%s: exit code %d, %s, %v, files %v", name, got.code, got.err, err, left)
		}
	}
	wantUsage(t, call(t, onScores("audit", dir, "--apply=always", "--output", "x.csv")...),
		"want careful, force or pooled")
	wantUsage(t, call(t, "audit", "--apply", "force", "--output", "x.csv"), "--apply=force")
}

// If a person has rejected most of the surest suspects, no label is corrected, and the output says why.
func TestAudit_AppliesNothingAfterRejections(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	fixed := filepath.Join(dir, "fixed.csv")
	args := onScores("audit", dir, "--apply", "--decisions", decisionsOn(t, dir, 83, 22), "--output", fixed)
	v := readJSON(t, must(t, append(args, "--json")...))
	o, d := v["correction"].(map[string]any), v["decisions"].(map[string]any)
	if o["automatic"] != 0. || o["changed"] != 22. || !strings.Contains(o["reason"].(string),
		"corrected by the decisions") {
		t.Errorf("correction %v", o)
	}
	if d["labels"] != 83. || d["wrong"] != 22. || !strings.Contains(d["note"].(string), "26.5 % are, so") {
		t.Errorf("decisions %v", d)
	}
	tables := must(t, args...)
	for _, want := range []string{d["note"].(string), "No label is corrected automatically: no label without a decision is " +
		"wrong"} {
		if !strings.Contains(strings.Join(strings.Fields(tables), " "), want) {
			t.Errorf("the tables lack %q:\n%s", want, tables)
		}
	}
}

func TestAudit_AppliesToFewClassesByForceOnly(t *testing.T) {
	dir := classFolder(t)
	fixed := filepath.Join(dir, "fixed.csv")
	wantUsage(t, call(t, onScores("audit", dir, "--apply", "--output", fixed)...),
		"600 labels are too few for --apply alone, which needs 5000")
	if _, err := os.Stat(fixed); err == nil {
		t.Error("what was refused is written")
	}
	must(t, onScores("audit", dir, "--apply=pooled", "--output", fixed)...)
}

// A run with few labels is refused before nets of folds are trained.
func TestAuditRun_AppliesToFewLabelsByForceOnly(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 30, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
	dir := audited(t, onPictures("--set", "data.manifest="+file)...)
	wantUsage(t, call(t, "audit", dir, "--noise-rates", "folds:2", "--apply", "--output", filepath.Join(t.TempDir(),
		"x.csv")), "27 labels are too few")
	if _, err := os.Stat(filepath.Join(dir, runaudit.Folder)); err == nil {
		t.Error("nets of folds were trained")
	}
}
