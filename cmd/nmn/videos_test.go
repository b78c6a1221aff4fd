package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/loader/dataset"
)

func TestFrames_SaysWhatComesNext(t *testing.T) {
	clips := clipFolder(t, 1)
	out := filepath.Join(t.TempDir(), "out")
	got := must(t, "frames", clips, "--output", out, "--frames", "2")
	if !strings.Contains(got, "clip,labels and 00.y4m,") || !strings.Contains(got, "nmn train clips.csv --images "+out) {
		t.Errorf("clips without folders: %s", got)
	}
	if err := os.WriteFile(filepath.Join(out, "labels.jsonl"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := must(t, "frames", clips, "--output", out, "--frames", "2"); !strings.Contains(got, "nmn train "+out+" ") {
		t.Errorf("with labels: %s", got)
	}
	deep := filepath.Join(t.TempDir(), "deep")
	if err := os.CopyFS(filepath.Join(deep, "a dog"), os.DirFS(clips)); err != nil {
		t.Fatal(err)
	}
	out += " 2"
	got = must(t, "frames", deep, "--output", out, "--frames", "2")
	if !strings.Contains(got, "nmn train '"+out+"'") || !strings.Contains(got, "a dog/00.y4m") {
		t.Errorf("clips in folders: %s", got)
	}
}

func TestWithFrames_ChangesWhatWasTyped(t *testing.T) {
	table := &dataset.VideoError{Clips: "v/x", Frames: "v/x-frames", Table: true}
	tree := &dataset.VideoError{Clips: "v/x", Frames: "v/x-frames"}
	for _, c := range []struct {
		of   *dataset.VideoError
		args string
		want string
	}{
		{table, "train t.csv --mil", "train t.csv --mil --images v/x-frames"},
		{table, "train t.csv --images v/x --mil", "train t.csv --images v/x-frames --mil"},
		{table, "train t.csv --images=v/x", "train t.csv --images=v/x-frames"},
		{tree, "train v/x/ --mil", "train v/x-frames --mil"},
		{tree, "doctor --images=./v/x", "doctor --images=v/x-frames"},
		{tree, "train --set data.manifest=v/x", "train --set data.manifest=v/x-frames"},
	} {
		if got := withFrames(c.of, strings.Fields(c.args)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s becomes %q", c.args, got)
		}
	}
	if got := shellLine([]string{"nmn", "a b", "it's", "", "x=1"}); got != `nmn 'a b' 'it'\''s' '' x=1` {
		t.Errorf("for a shell: %s", got)
	}
}
