package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader"
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
	wantParts(t, table, "| 40 | frame | held rates |", "| 40 | video | held rates + MIL |")
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
	check(t, err)
	net, err := run.OpenModel(t.Context(), dir, run.ModelOptions{Run: run.Resources{Device: "cpu"}})
	check(t, err)
	defer net.Close()
	l := loader.DefaultConfig()
	l.BatchSize = 16
	scores, err := train.Score(t.Context(), net.Net(), single, l)
	check(t, err)
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
