package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func captionFiles(t *testing.T) (results, references string) {
	t.Helper()
	dir := t.TempDir()
	results, references = filepath.Join(dir, "results.json"), filepath.Join(dir, "references.csv")
	for path, content := range map[string]string{
		results:    `[{"image_id": 3, "caption": "This is a good test."}, {"image_id": 5, "caption": "a red ball on grass"}]`,
		references: "id,caption\n3,this is a test\n3,This is also a test!\n5,a red ball lies on grass\n8,nothing\n",
	} {
		write(t, path, content)
	}
	return results, references
}

func TestCaptionEval_ScoresEveryCaption(t *testing.T) {
	results, references := captionFiles(t)
	table := filepath.Join(t.TempDir(), "scores.csv")
	all := readJSON(t, must(t, "caption", "eval", "--results", results, "--references", references,
		"--partial", "--output", table, "--json"))
	if all["captions"] != 2. || all["meteor_modules"] != "exact stem" ||
		all["bleu_counts"].(map[string]any)["length"] != 10. {
		t.Errorf("%v", all)
	}
	content := readBytes(t, table)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "3,This is a good test.,0.79999") {
		t.Errorf("scores of captions:\n%s", content)
	}
	wantParts(t, must(t, "caption", "eval", "--results", results, "--references", references, "--partial"), "CIDEr-D",
		"exact stem")
}

func TestCaptionEval_RefusesWhatDoesNotFit(t *testing.T) {
	results, references := captionFiles(t)
	wantUsage(t, call(t, "caption", "eval", "--results", results), "--references")
	other := filepath.Join(t.TempDir(), "other.csv")
	write(t, other, "id,caption\n9,a\n")
	for want, args := range map[string][]string{
		"is not among the 3 references": {"--results", other, "--references", references},
		"3 has 2 generated captions":    {"--results", references, "--references", references},
		"there is no english.words": {"--results", results, "--references", references,
			"--partial", "--meteor-data", t.TempDir()},
		"1 of 3 pictures with refere": {"--results", results, "--references", references},
		"no such file":                {"--results", results + "x", "--references", references},
	} {
		c := call(t, append([]string{"caption", "eval"}, args...)...)
		wantFailure(t, c, want)
	}
}
