package scenes

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/shard"
	"nmn/text"
)

func TestWrite_IsACOCOSet(t *testing.T) {
	config, folder := Config{Seed: 3, Split: "val", N: 6}, t.TempDir()
	path, err := Write(context.Background(), config, nil, folder)
	expect.OK(t, err)
	data, err := os.ReadFile(path)
	expect.OK(t, err)
	var file struct {
		Images []struct {
			ID            int
			FileName      string `json:"file_name"`
			Width, Height int
		}
		Annotations []struct {
			ID      int
			ImageID int `json:"image_id"`
			Caption string
		}
	}
	expect.OK(t, json.Unmarshal(data, &file))
	set := makeScenes(t, config.Seed, config.Split, config.N)
	if len(file.Images) != config.N || len(file.Annotations) != config.N*CaptionsPerPicture {
		t.Fatalf("%d images and %d annotations", len(file.Images), len(file.Annotations))
	}
	for n, a := range file.Annotations {
		var words []int32
		for word := range strings.FieldsSeq(a.Caption) {
			if k, ok := set.Vocabulary.Index(word); ok {
				words = append(words, int32(k))
			}
		}
		slices.Sort(words)
		words = slices.Compact(words)
		if want := set.Captions[a.ImageID-1][n%CaptionsPerPicture]; len(words)+len(want) > 0 &&
			!reflect.DeepEqual(words, want) {
			t.Errorf("caption %q has words %v, want %v", a.Caption, words, want)
		}
	}
	names := make([]string, config.N)
	for i, image := range file.Images {
		names[i] = image.FileName
	}
	source, err := loader.NewFileSource(filepath.Join(folder, "images"), names)
	expect.OK(t, err)
	written := *set
	written.Source = source
	if difference := pictureDifference(t, &written, set); difference > 8 { // chroma is halved under pixel noise
		t.Errorf("pixels differ by %.1f levels on average after JPEG", difference)
	}
}

func TestWrite_Refuses(t *testing.T) {
	if _, err := Write(context.Background(), Config{Seed: 1, Split: "../x", N: 1}, nil, t.TempDir()); err == nil {
		t.Error("a split that is a path: no error")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Write(cancelled, Config{Seed: 1, Split: "val", N: 1}, nil, t.TempDir()); err == nil {
		t.Error("cancelled: no error")
	}
}

func TestSceneCaption_EmptyHasText(t *testing.T) {
	caption := sceneCaption{noWord, noWord, noWord, noWord, silence, silence}
	if got := caption.String(); got != "a picture" {
		t.Errorf("%q", got)
	}
	if words := caption.appendWords(nil); len(words) != 0 {
		t.Errorf("words %v", words)
	}
}

// Replaced captions have the texts of their donors, and all others stay.
func TestWrite_ReplacesCaptions(t *testing.T) {
	config := Config{Split: "train", N: 30, Seed: 1}
	set, err := Make(config)
	expect.OK(t, err)
	noise, err := inject.ReplaceCaptions(set, inject.Shift, .5, 1)
	expect.OK(t, err)
	path, err := Write(t.Context(), config, noise, t.TempDir())
	expect.OK(t, err)
	data, err := os.ReadFile(path)
	expect.OK(t, err)
	var got exportedSet
	expect.OK(t, json.Unmarshal(data, &got))
	own := describeScenes(config).Annotations
	want := map[int]int{} // own caption by place
	for _, change := range noise.Changes {
		for _, r := range change.Captions {
			want[change.Bag*5+r.Slot] = r.Donor*5 + r.DonorSlot
		}
	}
	if len(want) == 0 || len(want) == len(own) {
		t.Fatalf("%d of %d captions are replaced", len(want), len(own))
	}
	for i, a := range got.Annotations {
		from, replaced := want[i]
		if !replaced {
			from = i
		}
		if a.ID != i+1 || a.ImageID != i/5+1 || a.Caption != own[from].Caption {
			t.Errorf("annotation %d: %+v, want the caption %q", i, a, own[from].Caption)
		}
	}
}

func TestWrite_TruthHasTheNamesOfTheFiles(t *testing.T) {
	config, dir := Config{Split: "train", N: 3, Seed: 1}, filepath.Join(t.TempDir(), "new", "scenes")
	captions, err := Write(t.Context(), config, nil, dir)
	expect.OK(t, err)
	if _, err := os.Stat(captions); err != nil {
		t.Error(err)
	}
	truth, err := table.ReadLabels(filepath.Join(dir, truthName))
	expect.OK(t, err)
	set, err := Make(config)
	expect.OK(t, err)
	names := []string{FileName("train", 0), FileName("train", 1), FileName("train", 2)}
	if !slices.Equal(truth.IDs, names) || !slices.Equal(truth.Words, set.Vocabulary.Texts()) {
		t.Errorf("truth of %q on %q", truth.IDs, truth.Words)
	}
	for i, y := range set.Truth.Uint8s() {
		if truth.Values[i] != float32(y) {
			t.Fatalf("value %d of the truth is %v, want %d", i, truth.Values[i], y)
		}
	}
	if v, err := text.ReadVocabulary(filepath.Join(dir, vocabularyName)); err != nil || v.Len() != set.Vocabulary.Len() {
		t.Errorf("vocabulary %v, %v", v, err)
	}
}

func TestWriteMoving_TruthHasTheNamesOfTheClips(t *testing.T) {
	config, dir := MovingConfig{Split: "train", N: 2, Seed: 1, Frames: 3}, t.TempDir()
	expect.OK(t, WriteMoving(t.Context(), config, shard.DefaultConfig(), dir))
	found, err := shard.CheckFolder(t.Context(), dir)
	if err != nil || found.Clips != 2 || found.Frames != 6 {
		t.Errorf("found %+v, %v", found, err)
	}
	if rebuilt, err := shard.RebuildFolder(dir); err != nil || rebuilt != found {
		t.Errorf("rebuilt %+v, want %+v (%v)", rebuilt, found, err)
	}
	set, err := MakeMoving(config)
	expect.OK(t, err)
	if truth, err := table.ReadLabels(filepath.Join(dir, truthName)); err != nil || !slices.Equal(truth.IDs, set.IDs) {
		t.Errorf("truth of %+v, %v", truth, err)
	}
}
