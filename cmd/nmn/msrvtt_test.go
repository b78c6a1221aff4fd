package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/shard"
	"nmn/run"
)

// writeMSRVTT writes annotations of clips: two in three belong to the training split, and clip i has the
// given number of sentences, each with the word of its number.
func writeMSRVTT(t *testing.T, clips, sentences int) string {
	t.Helper()
	var videos, all []string
	for i := range clips {
		split := "train"
		if i%3 == 2 {
			split = "validate"
		}
		videos = append(videos, fmt.Sprintf(`{"video_id": "video%d", "split": %q}`, i, split))
		for s := range sentences {
			all = append(all, fmt.Sprintf(`{"sen_id": %d, "video_id": "video%d", "caption": "a dog of %s number w%d"}`,
				i*sentences+s, i, split, s))
		}
	}
	path := filepath.Join(t.TempDir(), "train_val_videodatainfo.json")
	text := fmt.Sprintf(`{"videos": [%s], "sentences": [%s]}`, strings.Join(videos, ","), strings.Join(all, ","))
	write(t, path, text)
	return path
}

func TestVocab_OfTheTrainingClipsOfMSRVTT(t *testing.T) {
	t.Parallel()
	file := writeMSRVTT(t, 3, 30)
	count := func(args ...string) map[string]int {
		var words []struct {
			Word  string
			Count int
		}
		expect.OK(t, json.Unmarshal([]byte(must(t, append([]string{"vocab", file, "--json"}, args...)...)), &words))
		counts := map[string]int{}
		for _, w := range words {
			counts[w.Word] = w.Count
		}
		return counts
	}
	// Two training clips, 20 sentences each unless a flag says otherwise.
	if got := count(); got["dog"] != 40 || got["train"] != 40 || got["validate"] != 0 || got["w19"] != 2 ||
		got["w20"] != 0 {
		t.Errorf("counts %v", got)
	}
	if got := count("--captions-per-sample", "5"); got["dog"] != 10 {
		t.Errorf("counts of 5 captions %v", got)
	}
	if got := count("--split", "validate", "--vocab-size", "5"); got["dog"] != 20 || got["validate"] != 20 ||
		len(got) != 5 {
		t.Errorf("counts of the validation clip %v", got)
	}
}

// writeFrames writes a folder of the frames of clips, 1 to 3 each, without the clips of a list.
func writeFrames(t *testing.T, clips int, without ...int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "frames")
	w, err := shard.Create(dir, shard.DefaultConfig())
	expect.OK(t, err)
	defer w.Close()
	for i := range clips {
		if slices.Contains(without, i) {
			continue
		}
		record := &shard.Record{Clip: fmt.Sprintf("TrainValVideo/video%d.mp4", i), Width: 64, Height: 48,
			PictureWidth: 64, PictureHeight: 48, Decoded: 3}
		var pictures [][]byte
		for f := range 1 + i%3 {
			picture := image.NewGray(image.Rect(0, 0, 64, 48))
			picture.Pix[i] = 255
			var b bytes.Buffer
			expect.OK(t, jpeg.Encode(&b, picture, nil))
			record.Frames, pictures = append(record.Frames, shard.Frame{Number: f}), append(pictures, b.Bytes())
		}
		expect.OK(t, w.Add(record, pictures))
	}
	expect.OK(t, w.Finish())
	return dir
}

func TestTrain_OnMSRVTT(t *testing.T) {
	t.Parallel()
	annotations, dir := writeMSRVTT(t, 12, 20), filepath.Join(t.TempDir(), "run")
	args := []string{"train", "--preset", "scenes", annotations, "--arm", "nmn-fi", "--epochs", "1",
		"--set", "net.width=0.5", "--batch-size", "4", "--set", "data.captions_per_sample=20", "--noise", "0.35",
		"--run-dir", dir, "--set", "data.frames_dir=" + writeFrames(t, 12)}
	must(t, args...)
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Split != "validation" || o.Evaluation.Bags != 4 || o.Evaluation.CaptionsPerSample != 20 ||
		o.Noise != .35 {
		t.Errorf("outcome %+v, %v; want the four clips of the split validate with 20 captions, and noise of 7 in 20", o, err)
	}
	must(t, "eval", dir, "--split", "validation")
}

func TestTrain_OnMSRVTTWithoutAllFrames(t *testing.T) {
	t.Parallel()
	annotations, frames := writeMSRVTT(t, 12, 20), writeFrames(t, 12, 3, 8)
	allowsMissing(t, []string{"train", "--preset", "scenes", annotations, "--set", "data.frames_dir=" + frames,
		"--arm", "stage1", "--epochs", "1", "--set", "net.width=0.5"},
		[]string{`"video3"`, "it has no frames", "--max-bad-samples"},
		[]string{"2 clips have no captions or no frames", "allows 1"}, []string{"video3", "video8"})
	wantUsage(t, call(t, "train", annotations), "give data.frames_dir (MSR-VTT: folder of frames")
}

func TestPrintConfig_OfMSRVTT(t *testing.T) {
	out := must(t, "config", "--set", "data.msrvtt=a.zip", "--set", "data.frames_dir=f")
	wantParts(t, out, "preset: paper-msrvtt", "set: msrvtt", "captions_per_sample: 20", "vocabulary_size: 1087",
		"arch: scenes", "frames_dir: f")
}
