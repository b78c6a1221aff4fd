package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/train"
)

// spoiled makes data of a kind. One picture is cut short, one is empty and one is gone. It returns the arguments that
// name the data, and an intact picture if the classifier takes pictures.
func spoiled(t *testing.T, kind string) (args []string, whole string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	at := func(name string) string { return filepath.Join(dir, name) }
	number := func(n string) string { return at("images/COCO_train2014_0000000000" + n + ".jpg") }
	files, whole := []string{number("03"), number("11"), number("14")}, number("01")
	switch kind {
	case "captions":
		must(t, "scenes", dir, "--number", "40")
		args = []string{"--set", "data.captions=" + at("captions_train2014.json"), "--images", at("images"), "--vocab",
			at("vocabulary.txt")}
	case "manifest", "backbone":
		must(t, "scenes", dir, "--number", "40", "--flips", "0.2:0.1")
		args = []string{"--set", "data.manifest=" + at("pictures.csv")}
	case "shards":
		must(t, "scenes", dir, "--moving", "--number", "20", "--frames", "3")
		spoilFrames(t, dir, 3, 7, 9)
		return []string{"--set", "data.clips=" + dir, "--vocab", at("vocabulary.txt"), "--mil", "--preset", "scenes", "--set",
			"net.width=0.25"}, ""
	}
	if kind == "backbone" {
		tinyVGG(t, at("vgg.safetensors"), 1)
		args = append(args, "--backbone", at("vgg.safetensors"), "--set", "net.input_size=32", "--set",
			"net.backbone_layer=pool5", "--set", "net.hidden=[]")
	} else {
		args = append(args, "--preset", "scenes", "--set", "net.width=0.25")
	}
	content := readBytes(t, files[0])
	for _, err := range []error{os.WriteFile(files[0], content[:len(content)/2], 0o666),
		os.WriteFile(files[1], nil, 0o666), os.Remove(files[2])} {
		expect.OK(t, err)
	}
	return args, whole
}

// spoilFrames damages the first frames of three clips in the first shard: of one the second half is gone, one is empty,
// and one is no picture.
func spoilFrames(t *testing.T, dir string, clips ...int) {
	t.Helper()
	path := filepath.Join(dir, "frames-000000.tar")
	shard := readBytes(t, path)
	lines := strings.Split(read(t, filepath.Join(dir, "index.jsonl")), "\n")
	for i, clip := range clips {
		var record struct{ Frames []struct{ Offset, Size int } }
		expect.OK(t, json.Unmarshal([]byte(lines[1+clip]), &record))
		frame := record.Frames[0]
		content := shard[frame.Offset:][:frame.Size]
		switch i {
		case 0:
			clear(content[len(content)/2:])
		case 1:
			clear(content)
		default:
			copy(content, "<html>")
		}
	}
	write(t, path, shard)
}

// What --max-bad-samples allows is allowed to the end, whatever the arm computes from the training pictures, and by
// every command on the run.
func TestMaxBadSamples_AreLeftOutToTheEnd(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains arms on every kind of data")
	estimates := []string{"--arm", "held-rates", "--set", "recipe.form=estimate", "--noise-rates", "folds:2", "--set",
		"recipe.fold_epochs=1", "--set", "recipe.epochs=1"}
	arms := map[string][]string{
		"default": nil, "folds": estimates, "baseline": {"--arm", "baseline"}, "em": {"--arm", "em"},
		"nmn-fd":            {"--arm", "nmn-fd", "--set", "recipe.form=paper"},
		"held-rates online": {"--arm", "held-rates", "--noise-rates", "online"}, "ll-r": {"--arm", "ll-r"},
	}
	for _, kind := range []string{"captions", "manifest", "backbone", "shards"} {
		data, whole := spoiled(t, kind)
		for arm, settings := range arms {
			if kind != "captions" && arm != "folds" && arm != "baseline" {
				continue
			}
			t.Run(kind+" "+arm, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				args := func(dir string) []string {
					return slices.Concat([]string{"train"}, data, settings, []string{"--epochs", "1", "--batch-size", "4",
						"--set", "train.checkpoint_steps=1", "--set", "train.log_steps=1", "--max-bad-samples", "4", "--seed", "3",
						"--threads", "1", "--device", "cpu", "--run-dir", dir})
				}
				c := call(t, args(dir)...)
				if c.code != exitOK || strings.Count(c.err, "cannot be used and are left out") != 1 {
					t.Fatalf("exit code %d: %s", c.code, c.err)
				}
				if page := read(t, filepath.Join(dir, "report.html")); !strings.Contains(page, "cannot be used and are left out") {
					t.Error("the page does not tell what was left out")
				}
				must(t, "eval", dir)
				must(t, "eval", dir, "--split", "train")
				if kind != "backbone" {
					must(t, "extract", dir, "--split", "train", "--output", filepath.Join(t.TempDir(), "x.npy"))
				}
				if whole != "" {
					must(t, "predict", dir, whole)
				}
				if arm == "folds" {
					must(t, "audit", dir)
				} else if arm == "default" {
					must(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "1")
				}

				resumedEquals(t, dir, args, []string{""}, train.LastName)
			})
		}
	}
}

// All runs of an experiment leave the same pictures out.
func TestMaxBadSamples_OfAnExperiment(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains arms on every kind of data")
	for _, kind := range []string{"captions", "manifest", "backbone", "shards"} {
		t.Run(kind, func(t *testing.T) {
			data, _ := spoiled(t, kind)
			args := slices.Concat([]string{"experiment"}, data, []string{"--arms", "baseline,nmn-fd,held-rates",
				"--seeds", "1,2", "--epochs", "1", "--batch-size", "4", "--max-bad-samples", "4", "--threads", "1",
				"--device", "cpu", "--run-dir", filepath.Join(t.TempDir(), "grid")})
			if at := slices.Index(args, "--mil"); at >= 0 {
				args[at] = "--mil=on" // it has a third value here
				args = append(args, "--set", "train.batch_size_mil=4")
			}
			must(t, args...)
			if c := call(t, args...); c.code != exitOK || strings.Contains(c.err, "epoch 1") {
				t.Errorf("exit code %d, or what is complete is trained again: %s", c.code, c.err)
			}
		})
	}
}

// A run that allows none stops at the first picture that cannot be used, and says how to allow it. So do pictures that
// break while a run is interrupted. It goes on then, to the end, whatever the arm computes from the training pictures.
func TestMaxBadSamples_AllowedWhenTheRunHasBegun(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains arms on every kind of data")
	for arm, settings := range map[string][]string{
		"default": nil, "em": {"--arm", "em"}, "held-rates online": {"--arm", "held-rates", "--noise-rates", "online"},
		"folds": {"--arm", "held-rates", "--noise-rates", "folds:2", "--set", "recipe.fold_epochs=1",
			"--set", "recipe.epochs=1"},
	} {
		t.Run(arm, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			must(t, "scenes", data, "--number", "40")
			picture := filepath.Join(data, "images/COCO_train2014_000000000014.jpg")
			content := readBytes(t, picture)
			write(t, picture, content[:len(content)/2])
			dir := filepath.Join(t.TempDir(), "run")
			c := call(t, slices.Concat([]string{"train", filepath.Join(data, "captions_train2014.json"), "--images",
				filepath.Join(data, "images"), "--vocab", filepath.Join(data, "vocabulary.txt"), "--preset", "scenes", "--set",
				"net.width=0.25"}, settings, []string{"--epochs", "1", "--batch-size", "4", "--set", "train.checkpoint_steps=1",
				"--set", "train.log_steps=1", "--threads", "1", "--device", "cpu", "--run-dir", dir})...)
			wantFailure(t, c, "--max-bad-samples")
			must(t, goOn(dir, "--max-bad-samples", "1")...)
			must(t, "eval", dir)
		})
	}
}
