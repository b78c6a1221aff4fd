package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/loader/dataset"
)

// typed are the commands that a message gives, below its first line.
func typed(message string) (commands [][]string) {
	for _, line := range strings.Split(strings.TrimSpace(message), "\n")[1:] {
		commands = append(commands, strings.Fields(line))
	}
	return commands
}

// clipTable is a table of the clips of a folder.
func clipTable(t *testing.T, folder string, n int) string {
	t.Helper()
	table := "clip,labels\n"
	for i := range n {
		table += fmt.Sprintf("%02d.y4m,%s\n", i, []string{"dog;grass", "cat"}[i%2])
	}
	path := filepath.Join(folder, "clips.csv")
	write(t, path, table)
	return path
}

// The way from videos to an answer for each: two commands as they are printed, the model, and its predictions. These
// are the same from videos and from their frames.
func TestTrain_VideosByTwoCommands(t *testing.T) {
	const clips = 6
	folder, aside := clipFolder(t, clips), t.TempDir()
	t.Setenv("TMPDIR", aside)
	tree := filepath.Join(t.TempDir(), "tree")
	for i, label := range []string{"cat", "dog"} {
		check(t, os.CopyFS(filepath.Join(tree, label, fmt.Sprint(i)), os.DirFS(folder)))
	}
	for name, data := range map[string]string{"table": clipTable(t, folder, clips), "tree": tree} {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "run")
			c := call(t, "train", data, "--preset", "moving-scenes", "--set", "net.width=0.5", "--epochs", "1", "--arm",
				"stage1", "--mil", "--set", "data.validation_share=0.2", "--set", "data.test_share=0.2", "--device", "cpu",
				"--threads", "1", "--run-dir", model)
			commands := typed(c.err)
			if c.code != exitFailure || len(commands) != 2 || !strings.Contains(c.err, "is a video (YUV4MPEG2)") {
				t.Fatalf("exit code %d: %s", c.code, c.err)
			}
			took := must(t, commands[0][1:]...)
			if next := typed(took); len(next) == 0 {
				t.Errorf("no next command in %q", took)
			}
			must(t, commands[1][1:]...)
			videos := commands[0][2]
			want := must(t, "predict", model, videos, "--format", "csv")
			if n := strings.Count(want, "\n"); n != 1+clips && n != 1+2*clips {
				t.Errorf("%d lines:\n%s", n, want)
			}
			if got := must(t, "predict", model, videos+"-frames", "--format", "csv"); got != want {
				t.Errorf("of frames\n%s\nof videos\n%s", got, want)
			}
			video := filepath.Join(folder, "00.y4m")
			out := must(t, "predict", model, video, "--threshold", "0", "--json")
			if !strings.Contains(out, `"clip": "`+video+`"`) || strings.Contains(out, `"picture"`) {
				t.Errorf("said %s", out)
			}
			c = call(t, "predict", model, video, "--ffmpeg", filepath.Join(folder, "none"))
			wantFailure(t, c, "apt install ffmpeg", "--ffmpeg")
			if left, err := filepath.Glob(filepath.Join(aside, "nmn-*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestFrames_SaysWhatComesNext(t *testing.T) {
	clips := clipFolder(t, 1)
	out := filepath.Join(t.TempDir(), "out")
	got := must(t, "frames", clips, "--output", out, "--frames", "2")
	wantParts(t, got, "clip,labels and 00.y4m,", "nmn train clips.csv --images "+out)
	write(t, filepath.Join(out, "labels.jsonl"), "")
	wantParts(t, must(t, "frames", clips, "--output", out, "--frames", "2"), "nmn train "+out+" ")
	deep := filepath.Join(t.TempDir(), "deep")
	check(t, os.CopyFS(filepath.Join(deep, "a dog"), os.DirFS(clips)))
	out += " 2"
	got = must(t, "frames", deep, "--output", out, "--frames", "2")
	wantParts(t, got, "nmn train '"+out+"'", "a dog/00.y4m")
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
