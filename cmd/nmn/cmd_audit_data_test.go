package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	runaudit "nmn/run/audit"
)

// One command finds in data what training and an audit of the run find, and does not train again for a correction.
func TestAuditData_IsTrainingAndAudit(t *testing.T) {
	skipShort(t, "audits runs of every kind of data")
	t.Parallel()
	for name, c := range map[string]struct {
		data     func() string
		more     []string
		settings []string
	}{
		"pictures": {
			data: func() string {
				return manifestOf(t, 60, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
			},
			settings: []string{"net.arch=scenes", "net.input_size=48", "net.width=0.5", "data.validation_share=0",
				"recipe.form=estimate", "noise_rates=online", "arm=held-rates"},
		},
		"features": {
			data: func() string {
				path := filepath.Join(t.TempDir(), "x.csv")
				rows, labels := featureRows(120)
				write(t, path, csvText("id,x1,x2", rows...))
				write(t, strings.TrimSuffix(path, "x.csv")+"y.csv", csvText("id,cat,dog", labels...))
				return path
			},
			more:     []string{"--labels", "y.csv"},
			settings: []string{"net.hidden=[4]", "recipe.fold_epochs=2"},
		},
	} {
		data := c.data()
		more := append([]string{"--device", "cpu"}, c.more...)
		if len(c.more) > 0 {
			more[len(more)-1] = filepath.Join(filepath.Dir(data), "y.csv")
		}
		for _, s := range append(c.settings, "train.stage1_epochs=1", "train.stage2_epochs=1", "train.batch_size=8") {
			more = append(more, "--set", s)
		}
		whole, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
		must(t, append([]string{"train", data, "--run-dir", whole}, more...)...)
		audit := []string{"audit", whole, "--top", "5", "--min-error", "0.01"}
		if name == "pictures" { // the run has scores of some bags alone
			audit = append(audit, "--noise-rates", "folds:2")
		}
		want := must(t, audit...)
		one := append([]string{"audit", data, "--run-dir", dir, "--top", "5", "--min-error", "0.01"}, more...)
		if got := must(t, one...); got != want {
			t.Errorf("%s: one command finds\n%s\nand two find\n%s", name, got, want)
		}
		readBytes(t, dir, filepath.Join(runaudit.Folder, "audit.html"))
		fixed := filepath.Join(t.TempDir(), "fixed.csv")
		again := call(t, append(one, "--apply=force", "--precision", "0.1", "--output", fixed)...)
		if again.code != exitOK || strings.Contains(again.err, "epoch 1,") {
			t.Errorf("%s: a correction: exit code %d: %s", name, again.code, again.err)
		}
		readBytes(t, fixed)
	}
}

func TestAuditData_RefusesWhatIsOfRunsAndScores(t *testing.T) {
	data := manifestOf(t, 6, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--scores", "s.csv"}, "--scores is for score files, and "},
		{[]string{"--fold-epochs", "2"}, "--set recipe.fold_epochs=N"},
		{[]string{"--noise-rates", "folds:x"}, "folds:x"},
		{[]string{"--set", "data.nois=.2"}, "did you mean data.noise?"},
		{[]string{"--min-error", "2"}, "--min-error is 2"},
	} {
		wantUsage(t, call(t, append([]string{"audit", data, "--run-dir", filepath.Join(t.TempDir(), "run")}, c.args...)...),
			c.want)
	}
}
