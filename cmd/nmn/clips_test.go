package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// clipFolders writes small splits of the moving scenes, and returns the flags that train on them.
func clipFolders(t *testing.T) (dir string, data []string) {
	t.Helper()
	dir = t.TempDir()
	for _, split := range [][2]string{{"train", "24"}, {"val", "8"}, {"test", "12"}} {
		folder := filepath.Join(dir, split[0])
		if out := must(t, "scenes", "--moving", "--frames", "4", "--split", split[0], "--number", split[1],
			folder); strings.TrimSpace(out) != folder {
			t.Errorf("said %q", out)
		}
	}
	return dir, []string{"--preset", "moving-scenes", "--set", "data.clips=" + filepath.Join(dir, "train"),
		"--set", "data.val_clips=" + filepath.Join(dir, "val"), "--set", "data.test_clips=" + filepath.Join(dir, "test"),
		"--vocab", filepath.Join(dir, "train", run.VocabularyFile), "--set", "net.width=0.5", "--device", "cpu",
		"--threads", "1"}
}

// Training and its messages do not depend on whether labels are in memory.
func TestTrain_OnClipsWhoseLabelsAreReadAsTheyComeUp(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	_, data := clipFolders(t)
	for name, level := range map[string][]string{"frame": nil, "video": {"--mil", "--set", "train.batch_size_mil=4"}} {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat([]string{"train", "--arm", "held-rates", "--noise", "0.4", "--epochs", "1",
				"--set", "data.shuffle_block=4", "--set", "data.shuffle_window=2"}, data, level)
			var said [2]string
			dirs := [2]string{filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")}
			for i, memory := range []string{"0", "1"} {
				said[i] = must(t, append(args, "--set", "run.label_memory="+memory, "--run-dir", dirs[i])...)
			}
			if said[0] != said[1] || !strings.Contains(said[0], "true labels") {
				t.Errorf("said\n%s\nwith labels in memory\n%s", said[0], said[1])
			}
			for _, file := range []string{train.LastName, "q.csv", filepath.Join(run.Stage1Folder, train.LastName),
				filepath.Join(run.RecipeFolder, recipe.RatesFile)} {
				if !bytes.Equal(readBytes(t, dirs[0], file), readBytes(t, dirs[1], file)) {
					t.Errorf("%s differs", file)
				}
			}
		})
	}
}

func TestTrain_StreamedClipsKilledAndResumed(t *testing.T) {
	t.Parallel()
	skipShort(t, "kills and restarts processes")
	_, data := clipFolders(t)
	killedRunEqualsWhole(t, 2, slices.Concat([]string{"train", "--arm", "nmn-fd", "--mil", "--noise", "0.4", "--set",
		"train.batch_size_mil=4", "--set", "net.dropout=0.3", "--set", "train.stage1_epochs=3", "--set",
		"train.stage2_epochs=3", "--set", "run.label_memory=0"}, data)...)
}

// Commands that look at all labels at once hold them.
func TestClips_OtherCommandsReadThem(t *testing.T) {
	skipShort(t, "trains several runs")
	t.Parallel()
	_, data := clipFolders(t)
	run, work := filepath.Join(t.TempDir(), "run"), t.TempDir()
	in := func(name string) string { return filepath.Join(work, name) }
	must(t, slices.Concat([]string{"train", "--arm", "stage1", "--mil", "--set", "train.stage1_epochs=1", "--noise", "0.4",
		"--set", "run.label_memory=0", "--run-dir", run}, data)...)
	wantParts(t, must(t, "eval", run, "--split", "train"), "AP, truth")
	wantParts(t, must(t, slices.Concat([]string{"noise", "--share", "0.4"}, data[:10])...),
		"24 clips, 36 classes, against the truth")
	wantParts(t, must(t, slices.Concat([]string{"doctor", "--set", "run.label_memory=0"}, data)...), "errors 0")
	out := must(t, "extract", run, "--split", "train", "--per-frame", "--layer", "probabilities,pool5",
		"--output", in("p.npy")+","+in("x.safetensors"), "--output-labels", in("y.csv"),
		"--output-truth", in("truth.csv"), "--output-clips", in("clips.csv"), "--set", "run.label_memory=0")
	wantParts(t, out, "96 rows of 36 features, probabilities", "96 rows of 64 features, pool5")
	if lines := strings.Split(read(t, work, "clips.csv"), "\n"); lines[2] != "moving-train-000001,4,4" {
		t.Errorf("clips %q", lines)
	}
	noisy := noisyScenes(t, run).Train
	rows, table := readRows(t, in("p.npy"), in("y.csv"))
	held, err := loader.Hold(t.Context(), noisy)
	expect.OK(t, err)
	if len(rows) != 96 || table.IDs[7] != "moving-train-000001#3" ||
		!bytes.Equal(table.Labels.Values[7*36:8*36], held.Labels.Uint8s()[36:72]) {
		t.Errorf("%d rows, the eighth is %s with labels %v", len(rows), table.IDs[7], table.Labels.Values[7*36:8*36])
	}
	// Each file is what its layer alone gives.
	for layer, file := range map[string]string{"probabilities": "p.npy", "pool5": "x.safetensors"} {
		alone := in("alone" + filepath.Ext(file))
		must(t, "extract", run, "--split", "train", "--per-frame", "--layer", layer, "--output", alone)
		if !bytes.Equal(readBytes(t, alone), readBytes(t, in(file))) {
			t.Errorf("%s differs from what is extracted alone", layer)
		}
	}
}

func TestClips_Refused(t *testing.T) {
	t.Parallel()
	dir, data := clipFolders(t)
	bare := filepath.Join(t.TempDir(), "bare")
	expect.OK(t, os.CopyFS(bare, os.DirFS(filepath.Join(dir, "val"))))
	expect.OK(t, os.Remove(filepath.Join(bare, loader.LabelsName)))
	words := filepath.Join(t.TempDir(), "words")
	must(t, "scenes", "--moving", "--frames", "3", "--number", "2", words)
	lines := `{"format":"nmn-labels","version":1}` + "\n" +
		`{"clip":"moving-train-000000","labels":["box"]}` + "\n" + `{"clip":"moving-train-000001"}` + "\n"
	write(t, filepath.Join(words, loader.LabelsName), lines)
	with := func(args ...string) []string { return slices.Concat([]string{"train"}, data, args) }
	for _, c := range []struct{ args, want []string }{
		{with("--set", "run.label_memory=-1"), []string{"label_memory is -1"}},
		{with("--set", "data.val_clips=", "--set", "run.label_memory=0"), []string{"not held in memory", "data.val_clips"}},
		{with("--set", "run.label_memory=0", "--noise-rates", "folds:2", "--arm", "soft-labels"),
			[]string{"folds", "data.video_level video"}},
		{with("--set", "data.captions=c.json", "--images", "d"), []string{"data come from one source"}},
		{[]string{"train", words, "--set", "data.min_count=2"}, []string{"no clip has a label", "--vocab"}},
		{[]string{"scenes", "--format", "concepts", filepath.Join(t.TempDir(), "x")},
			[]string{"--format belongs to --moving"}},
		{[]string{"scenes", "--moving", "--frames", "2", filepath.Join(t.TempDir(), "x")}, []string{"Frames = 2"}},
		{[]string{"extract", dir, "--layer", "fc7,pool5", "--output", "x.npy"}, []string{"names 1 files", "2 layers"}},
		{[]string{"extract", dir, "--layer", "fc7,pool5", "--output", "x.npy,x.npy"}, []string{"given twice"}},
	} {
		wantUsage(t, call(t, c.args...), c.want...)
	}
	folds := with("--mil", "--set", "run.label_memory=0", "--noise-rates", "folds:2", "--arm", "soft-labels",
		"--run-dir", t.TempDir())
	wantCode(t, call(t, folds...), exitUsage, "folds need all labels in memory")
	wantFailure(t, call(t, with("--set", "data.val_clips="+bare)...), loader.LabelsName, "in the order of their index")
}

// Labels that name classes are a vocabulary: the most frequent first.
func TestClips_LabelsAloneMakeTheClasses(t *testing.T) {
	t.Parallel()
	_, data := clipFolders(t)
	train := strings.TrimPrefix(data[3], "data.clips=")
	lines := []string{`{"format":"nmn-labels","version":1}`}
	for i, line := range strings.Split(strings.TrimSpace(read(t, train, loader.LabelsName)), "\n")[1:] {
		clip, _, _ := strings.Cut(strings.SplitN(line, `"clip":"`, 2)[1], `"`)
		labels := `"dog"`
		if i%2 == 0 {
			labels = `"zebra","dog","zebra"`
		}
		lines = append(lines, `{"clip":"`+clip+`","labels":[`+labels+`]}`)
	}
	write(t, filepath.Join(train, loader.LabelsName), strings.Join(lines, "\n")+"\n")
	dir := filepath.Join(t.TempDir(), "run")
	must(t, "train", train, "--preset", "moving-scenes", "--arm", "stage1", "--epochs", "1", "--set", "data.min_count=1",
		"--set", "data.validation_share=0.2", "--set", "net.width=0.5", "--device", "cpu", "--threads", "1", "--run-dir", dir)
	if words := read(t, dir, run.VocabularyFile); words != "dog, other, 24\nzebra, other, 12\n" {
		t.Errorf("the classes are %q", words)
	}
}
