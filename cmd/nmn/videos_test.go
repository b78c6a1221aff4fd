package main

import (
	"slices"
	"strings"
	"testing"

	"nmn/loader/dataset"
)

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
