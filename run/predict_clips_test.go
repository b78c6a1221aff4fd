package run_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/frames"
	"nmn/loader/scenes"
	"nmn/loader/shard"
	"nmn/run"
	"nmn/run/document"
	"nmn/train"
)

// clipFolders are folders of frames with labels for training and for the test, and the settings that all tests have.
func clipFolders(t *testing.T) (learned, tested string, common []string) {
	t.Helper()
	dir := t.TempDir()
	words := expect.Value(scenes.Vocabulary())(t)
	expect.OK(t, words.WriteFile(filepath.Join(dir, run.VocabularyFile)))
	for split, n := range map[string]int{"train": 12, "test": 5} {
		if err := scenes.WriteMoving(t.Context(), scenes.MovingConfig{Seed: 1, Split: split, N: n, Frames: 3},
			shard.DefaultConfig(), filepath.Join(dir, split)); err != nil {
			t.Fatal(err)
		}
	}
	learned = filepath.Join(dir, "train")
	return learned, filepath.Join(dir, "test"), []string{"data.clips=" + learned, "data.noise=0", "arm=stage1",
		"data.vocabulary=" + filepath.Join(dir, run.VocabularyFile), "train.stage1_epochs=1", "train.flip=false",
		"run.device=cpu", "run.threads=1"}
}

// trainedOnClips trains a run on clips with these settings. It returns the session and the folder of the run.
func trainedOnClips(t *testing.T, settings []string) (s *run.Session, dir string) {
	t.Helper()
	given, err := document.ParseSettings(settings...)
	expect.OK(t, err)
	var c run.Config
	expect.OK(t, (run.Sources{Preset: run.MovingScenesPreset, Settings: given}).Resolve(&c))
	if s, err = run.Open(t.Context(), c, run.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	dir = filepath.Join(t.TempDir(), "run")
	if _, err := s.Train(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// What is predicted of clips is what their evaluation scores: frame by frame, joined by noisy-or or as means, and with
// a backbone.
func TestPredict_ClipsAsTheyAreEvaluated(t *testing.T) {
	t.Parallel()
	_, tested, common := clipFolders(t)
	weights := withBackbone(t, 1).Net.Backbone
	for name, more := range map[string][]string{
		"frames":          nil,
		"mil":             {"net.mil=true", "train.batch_size_mil=4"},
		"mil of frames":   {"net.mil=true", "data.video_level=frame"},
		"mil, in chunks":  {"net.mil=true", "train.batch_size_mil=4", "train.chunk_frames=2"},
		"means":           {"data.video_level=video", "train.batch_size=4"},
		"backbone, means": {"net.backbone=" + weights, "net.arch=mlp", "net.hidden=[]", "net.input_size=32"},
		"backbone, mil":   {"net.backbone=" + weights, "net.arch=mlp", "net.hidden=[]", "net.input_size=32", "net.mil=true"},
		"backbone, frames": {"net.backbone=" + weights, "net.arch=mlp", "net.hidden=[]", "net.input_size=32",
			"data.video_level=frame"},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := trainedOnClips(t, slices.Concat(common, []string{"data.test_clips=" + tested}, more))
			m := expect.Value(run.OpenModel(t.Context(), dir, run.ModelOptions{Run: run.Resources{Device: "cpu"}}))(t)
			defer m.Close()
			l := s.Config.Loader()
			l.BatchSize = 2
			want := expect.Value(train.Score(t.Context(), m.Net(), s.Config.Scored(s.Data.Test), l))(t)
			got := expect.Value(m.Predict(t.Context(), []string{tested}, run.DefaultPredictOptions()))(t)
			if got.Len() != 5 || !got.Clips || got.ID(1) != filepath.Join(tested, s.Data.Test.IDs[1]) {
				t.Errorf("%d answers, of clips %t, the second is %q", got.Len(), got.Clips, got.ID(1))
			}
			for i, p := range want.Prob.Float32s() {
				if math.Abs(float64(p-got.Probabilities[i])) > 1e-6 {
					t.Fatalf("probability %d is %v, the evaluation has %v", i, got.Probabilities[i], p)
				}
			}
			if c := m.Checkpoint().Clips; c == nil || c.Frames != 3 || c.ByFrame != s.Config.ByFrame() {
				t.Errorf("the checkpoint says %+v of clips", c)
			}
		})
	}
}

// Features of clips that paths name equal the features of the same clips in a split, by clip and by frame.
func TestExtract_ClipsAsOfASplit(t *testing.T) {
	t.Parallel()
	_, tested, common := clipFolders(t)
	s, dir := trainedOnClips(t, append(common, "data.test_clips="+tested, "net.mil=true", "train.batch_size_mil=4"))
	m := expect.Value(s.OpenModel(dir, run.Last))(t)
	defer m.Close()
	o := run.DefaultExtractOptions()
	o.Split = "test"
	for _, o.PerFrame = range []bool{false, true} {
		rows := func(paths []string) (all [][]float32) {
			o.Row = func(_ int, rows [][]float32) error {
				all = append(all, slices.Clone(rows[0]))
				return nil
			}
			if _, err := m.Extract(t.Context(), paths, o); err != nil {
				t.Fatal(err)
			}
			return all
		}
		want, got := rows(nil), rows([]string{tested})
		if n := map[bool]int{false: 5, true: 15}[o.PerFrame]; len(want) != n || !slices.EqualFunc(got, want, closeRows) {
			t.Errorf("by frame %t: %d rows of paths differ from %d of the split", o.PerFrame, len(got), len(want))
		}
	}
	o.PerFrame, o.Images = false, tested
	if _, err := m.Extract(t.Context(), []string{tested}, o); err == nil || !strings.Contains(err.Error(),
		"`data.images` is for a list of pictures") {
		t.Errorf("with a folder of pictures: %v", err)
	}
	o.Images = ""
	video := filepath.Join(t.TempDir(), "clip.mkv")
	expect.OK(t, os.WriteFile(video, []byte("\x1a\x45\xdf\xa3"), 0o666))
	o.FFmpeg = filepath.Join(t.TempDir(), "no-ffmpeg")
	if _, err := m.Extract(t.Context(), []string{video}, o); err == nil || !strings.Contains(err.Error(),
		"get ffmpeg 5.1") {
		t.Errorf("without ffmpeg: %v", err)
	}
}

// closeRows reports whether rows differ in the last bits alone.
func closeRows(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5 })
}

// unpackFrames puts the frames of each clip of a folder into a folder of its own, in the place of shards and index.
func unpackFrames(t *testing.T, dir string) {
	t.Helper()
	shards := map[string]bool{shard.IndexName: true}
	r := expect.Value(shard.Open(dir))(t)
	for record, err := range r.Records() {
		expect.OK(t, err)
		for i := range record.Frames {
			data := expect.Value(r.ReadFrame(&record, i, nil))(t)
			expect.OK(t, os.MkdirAll(filepath.Join(dir, record.Key), 0o777))
			expect.OK(t, os.WriteFile(filepath.Join(dir, record.Key, fmt.Sprintf("%02d.jpg", i)), data, 0o666))
		}
		shards[record.Shard] = true
	}
	expect.OK(t, r.Close())
	for name := range shards {
		expect.OK(t, os.Remove(filepath.Join(dir, name)))
	}
}

// Folders of pictures are clips, and so is a picture; what cannot be read is named.
func TestPredict_FoldersOfFrames(t *testing.T) {
	t.Parallel()
	_, tested, common := clipFolders(t)
	s, dir := trainedOnClips(t, append(common, "data.validation_share=.2", "data.test_share=.2", "net.mil=true"))
	m, err := s.OpenModel(dir, run.Last)
	expect.OK(t, err)
	defer m.Close()
	indexed := expect.Value(m.Predict(t.Context(), []string{tested}, run.DefaultPredictOptions()))(t)
	unpackFrames(t, tested)
	o := run.DefaultPredictOptions()
	var skipped []string
	o.Skipped = func(files []string) { skipped = files }
	plain := expect.Value(m.Predict(t.Context(), []string{tested}, o))(t)
	if !slices.Equal(plain.Probabilities, indexed.Probabilities) || len(skipped) == 0 {
		t.Errorf("folders of pictures give %v, those with an index %v; skipped %q", plain.Probabilities,
			indexed.Probabilities, skipped)
	}
	one := plain.ID(2)
	o.Shard = run.Shard{Number: 2, Of: 2}
	o.Threshold = 0
	part, err := m.Predict(t.Context(), []string{tested}, o)
	if err != nil || part.Len() != 3 || part.ID(0) != one {
		t.Fatalf("the second part of two: %v, %v", part, err)
	}
	o.Shard = run.Shard{}
	pictures, err := filepath.Glob(filepath.Join(one, "*.jpg"))
	if err != nil || len(pictures) != 3 {
		t.Fatal(pictures, err)
	}
	if single, err := m.Predict(t.Context(), pictures[:1], o); err != nil || single.Len() != 1 {
		t.Errorf("a picture: %v, %v", single, err)
	}
	expect.OK(t, os.WriteFile(pictures[1], []byte("\xff\xd8\xff"), 0o666))
	bad, err := m.Predict(t.Context(), []string{tested}, o)
	if err != nil || bad.Len() != 4 || len(bad.Bad) != 1 || !strings.Contains(bad.Bad[0].Err.Error(), pictures[1]) {
		t.Errorf("a broken frame: %+v, %v", bad, err)
	}
	video := filepath.Join(t.TempDir(), "clip.mkv")
	expect.OK(t, os.WriteFile(video, []byte("\x1a\x45\xdf\xa3"), 0o666))
	o.FFmpeg = filepath.Join(t.TempDir(), "no-ffmpeg")
	if _, err := m.Predict(t.Context(), []string{video}, o); err == nil || !strings.Contains(err.Error(),
		"get ffmpeg 5.1") {
		t.Errorf("without ffmpeg: %v", err)
	}
	if _, err := frames.Find(t.Context(), ""); err == nil {
		o.FFmpeg = ""
		if _, err := m.Predict(t.Context(), []string{video}, o); err == nil || !strings.Contains(err.Error(), "clip.mkv") {
			t.Errorf("a broken video: %v", err)
		}
		if both, err := m.Predict(t.Context(), []string{video, pictures[0]}, o); err != nil || both.Len() != 1 {
			t.Errorf("a broken video and a picture: %+v, %v", both, err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Predict(cancelled, []string{video}, o); err == nil {
			t.Error("a cancelled prediction has no error")
		}
	}
	if _, err := m.Predict(t.Context(), []string{t.TempDir()}, o); err == nil || !strings.Contains(err.Error(),
		"no video") {
		t.Errorf("an empty folder: %v", err)
	}
}
