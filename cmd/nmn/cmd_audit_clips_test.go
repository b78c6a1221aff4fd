package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/loader"
	"nmn/run"
)

// labelLine finds the line of a clip in a file of labels.
func labelLine(t *testing.T, file, clip string) (label loader.ClipLabel) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(read(t, file)), "\n")[1:] {
		check(t, json.Unmarshal([]byte(line), &label))
		if label.Clip == clip {
			return label
		}
		label = loader.ClipLabel{}
	}
	t.Fatalf("%s has no clip %q", file, clip)
	return label
}

// nameLabels rewrites a file of captions as one of labels by name: what the clips show.
func nameLabels(t *testing.T, file string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(read(t, file)), "\n")
	out := []string{`{"format":"nmn-labels","version":1}`}
	for _, line := range lines[1:] {
		var label loader.ClipLabel
		check(t, json.Unmarshal([]byte(line), &label))
		text, err := json.Marshal(loader.ClipLabel{Clip: label.Clip, Labels: label.Truth})
		check(t, err)
		out = append(out, string(text))
	}
	write(t, file, strings.Join(out, "\n")+"\n")
}

// Labels of clips are corrected in a file of labels that the next run learns, whether they were given by name or came
// from captions.
func TestAuditRun_WritesLabelsOfClips(t *testing.T) {
	t.Parallel()
	skipShort(t, "audits runs of every kind of data")
	for name, captioned := range map[string]bool{"labels": false, "captions": true} {
		t.Run(name, func(t *testing.T) {
			folders, data := clipFolders(t)
			file := filepath.Join(folders, "train", loader.LabelsName)
			if !captioned {
				for _, split := range []string{"train", "val", "test"} {
					nameLabels(t, filepath.Join(folders, split, loader.LabelsName))
				}
			}
			dir := filepath.Join(t.TempDir(), "run")
			must(t, slices.Concat([]string{"train", "--arm", "baseline", "--epochs", "1", "--run-dir", dir}, data)...)
			must(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "1")
			if c := call(t, "audit", dir, "--apply", "--output", filepath.Join(t.TempDir(), "x.csv")); c.code != exitUsage ||
				!strings.Contains(c.err, ".jsonl") {
				t.Errorf("exit code %d: %s", c.code, c.err)
			}
			if c := call(t, "audit", dir, "--apply", "--output", file); c.code != exitUsage ||
				!strings.Contains(c.err, "has learned from") {
				t.Errorf("exit code %d: %s", c.code, c.err)
			}
			before := noisyScenes(t, dir).Train
			words, id := before.Vocabulary.Texts(), before.IDs[0]
			gone := slices.Index(before.Labels.Uint8s()[:len(words)], 1)
			fixed := filepath.Join(t.TempDir(), "fixed.jsonl")
			decided(t, dir, fixed, [3]string{id, words[gone], "1"})
			got := labelLine(t, fixed, id)
			if got.Captions != nil || slices.Contains(got.Labels, words[gone]) || len(got.Labels) == 0 {
				t.Errorf("%q was taken away, and the line is %+v", words[gone], got)
			}
			again := noisyScenes(t, learns(t, fixed)).Train
			want := slices.Clone(before.Labels.Uint8s())
			want[gone] = 0
			if !slices.Equal(again.Vocabulary.Texts(), words) || !slices.Equal(again.Labels.Uint8s(), want) {
				t.Error("the next run has learned other labels than those with the correction")
			}
			must(t, slices.Concat([]string{"train", "--arm", "baseline", "--epochs", "1", "--set", "data.clip_labels=" + fixed,
				"--run-dir", filepath.Join(t.TempDir(), "flag")}, data[:4], []string{"--vocab",
				filepath.Join(folders, "train", run.VocabularyFile), "--set", "net.width=0.5", "--device", "cpu"})...)
		})
	}
}
