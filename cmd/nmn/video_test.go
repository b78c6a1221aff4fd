package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/run"
	"nmn/train"
)

// tinyVideo are the arguments of a training on a few short clips.
func tinyVideo(command string, args ...string) []string {
	return append([]string{command, "--preset", "moving-scenes", "--set", "data.train_size=24",
		"--set", "data.validation_size=8", "--set", "data.test_size=12", "--set", "data.frames=4", "--epochs", "1",
		"--set", "net.width=0.5", "--device", "cpu", "--threads", "1"}, args...)
}

// nmn eval reports the same figures for test videos as the run, at both levels and in chunks.
func TestTrain_VideosAtBothLevels(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	for name, args := range map[string][]string{
		"frame":                     nil,
		"frame, with image MIL":     {"--set", "data.video_level=frame", "--mil"},
		"video":                     {"--mil"},
		"video, in chunks":          {"--mil", "--set", "train.batch_size_mil=3", "--set", "train.chunk_frames=5"},
		"video, mean of the frames": {"--set", "data.video_level=video"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			out := must(t, append(tinyVideo("train", "--arm", "nmn-fd", "--run-dir", dir, "--json"), args...)...)
			ran := readJSON(t, out)
			evaluated := readJSON(t, must(t, "eval", dir, "--device", "cpu", "--json"))
			if a, b := figures(t, ran["evaluation"]), figures(t, evaluated); a != b {
				t.Errorf("the run says\n%s\nthe evaluation\n%s", a, b)
			}
			if bags := evaluated["samples"]; bags != 12. {
				t.Errorf("%v test videos, want 12", bags)
			}
		})
	}
}

// figures returns the figures of an evaluation against the true labels.
func figures(t *testing.T, evaluation any) string {
	t.Helper()
	all, ok := evaluation.(map[string]any)
	if !ok {
		t.Fatalf("no evaluation: %v", evaluation)
	}
	text, err := json.Marshal(all["truth"])
	if err != nil || len(text) < 10 {
		t.Fatalf("%s, %v", text, err)
	}
	return string(text)
}

func TestExperiment_VideosInTheFormOfTable3(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	dir := filepath.Join(t.TempDir(), "experiment")
	args := tinyVideo("experiment", "--size", "quick", "--mil", "both", "--run-dir", dir, "--set", "recipe.form=estimate",
		"--noise-rates", "online", "--arms", "baseline,nmn-fi,held-rates")
	out := must(t, args...)
	wantParts(t, out, "level", "frame", "video", "held rates + MIL", "clips of 4 frames",
		"Rows with MIL learn a clip as one bag")
	table := read(t, dir, "table.md")
	wantParts(t, table, "| frame | held rates |", "| video | held rates + MIL |")
}

func TestVideo_RefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{tinyVideo("train", "--set", "data.frames=2"), []string{"data.frames is 2", "3 to 1000"}},
		{tinyVideo("train", "--set", "data.video_level=clip"), []string{"data.video_level", "auto, frame or video"}},
		{tinyVideo("train", "--set", "train.chunk_frames=-1"), []string{"chunk_frames", "at least 0"}},
		{tinyVideo("train", "--set", "recipe.form=estimate", "--noise-rates", "folds:2", "--run-dir", t.TempDir()),
			[]string{"several folds", "data.video_level video"}},
	} {
		wantUsage(t, call(t, c.args...), c.want...)
	}
}

// A run on videos that was killed goes on as if nothing had been.
func TestTrain_VideosKilledAndResumed(t *testing.T) {
	t.Parallel()
	skipShort(t, "kills and restarts processes")
	killedRunEqualsWhole(t, 4, tinyVideo("train", "--mil", "--arm", "nmn-fd", "--set", "train.batch_size_mil=4",
		"--set", "train.chunk_frames=6", "--set", "net.dropout=0.3", "--set", "train.stage1_epochs=3", "--set",
		"train.stage2_epochs=3")...)
}

// Features of frames are the outputs of the net for single frames, in the order of clips and frames.
func TestExtract_EveryFrameOfAVideo(t *testing.T) {
	t.Parallel()
	dir, work := filepath.Join(t.TempDir(), "run"), t.TempDir()
	must(t, tinyVideo("train", "--mil", "--arm", "nmn-fd", "--set", "train.chunk_frames=3", "--run-dir", dir)...)
	p, clips, ids, truth := filepath.Join(work, "p.npy"), filepath.Join(work, "clips.csv"), filepath.Join(work,
		"ids.txt"), filepath.Join(work, "truth.csv")
	frames := []string{"extract", dir, "--split", "test", "--per-frame", "--device", "cpu", "--threads", "1"}
	must(t, append(frames, "--layer", "probabilities", "--output", p, "--output-clips", clips, "--output-ids", ids,
		"--output-truth", truth, "--batch-size", "5")...)
	rows, table := readRows(t, p, truth)
	if len(rows) != 48 || len(rows[0]) != 36 || table.IDs[5] != "moving-test-000001#1" {
		t.Fatalf("%d rows of %d, the sixth is %q", len(rows), len(rows[0]), table.IDs[5])
	}
	lines := strings.Split(strings.TrimSpace(read(t, clips)), "\n")
	if len(lines) != 13 || lines[0] != "clip,first,rows" || lines[3] != "moving-test-000002,8,4" {
		t.Errorf("clips %q", lines)
	}
	d := noisyScenes(t, dir)
	single, _, err := loader.Frames(t.Context(), d.Test)
	expect.OK(t, err)
	net, err := run.OpenModel(t.Context(), dir, run.ModelOptions{Run: run.Resources{Device: "cpu"}})
	expect.OK(t, err)
	defer net.Close()
	l := loader.DefaultConfig()
	l.BatchSize = 16
	scores, err := train.Score(t.Context(), net.Net(), single, l)
	expect.OK(t, err)
	for i, want := range scores.Prob.Float32s() {
		if got := rows[i/36][i%36]; math.Abs(float64(got-want)) > 1e-6 {
			t.Fatalf("frame %d, class %d: %v, the net says %v", i/36, i%36, got, want)
		}
	}
	x := filepath.Join(work, "x.safetensors")
	out := must(t, append(frames, "--output", x)...)
	if features, _ := readRows(t, x, ""); len(features) != 48 || len(features[0]) != 64 ||
		!strings.Contains(out, "48 rows of 64 features, pool5") {
		t.Errorf("%d rows, %s", len(features), out)
	}
	wantUsage(t, call(t, "extract", dir, "--output", x), "3 frames", "--per-frame")
	wantUsage(t, call(t, "extract", dir, "--output", x, "--output-clips", clips), "--per-frame")
}

func TestDryRun_TellsTheChunksOfVideos(t *testing.T) {
	t.Parallel()
	out := must(t, tinyVideo("train", "--mil", "--set", "train.batch_size_mil=4", "--arm", "stage1", "--dry-run")...)
	wantParts(t, out, "a step of 16 pictures", "maps of 16 frames: ", "train.chunk_frames 8 ", "train.chunk_frames 2 ")
}

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
		expect.OK(t, os.CopyFS(filepath.Join(tree, label, fmt.Sprint(i)), os.DirFS(folder)))
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
	expect.OK(t, os.CopyFS(filepath.Join(deep, "a dog"), os.DirFS(clips)))
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
