package scenes

import (
	"context"
	"encoding/json"
	"nmn/loader"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestWrite_IsACOCOSet(t *testing.T) {
	config, folder := Config{Seed: 3, Split: "val", N: 6}, t.TempDir()
	path, err := Write(context.Background(), config, nil, folder)
	check(t, err)
	data, err := os.ReadFile(path)
	check(t, err)
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
	check(t, json.Unmarshal(data, &file))
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
	check(t, err)
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
