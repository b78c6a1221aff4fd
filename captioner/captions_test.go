package captioner

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/internal/expect"
	"nmn/loader/scenes"
)

func TestReadCaptions_RefusesWhatItCannotUnpack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "captions.json.gz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	expect.OK(t, expect.ErrorOf(z.Write([]byte(`{"a": ["a dog"]}`))))
	expect.OK(t, errors.Join(z.Close(), os.WriteFile(path, packed.Bytes(), 0o666)))
	expect.Refusal(t, expect.ErrorOf(ReadCaptions(t.Context(), path, "")), "unpack the file")
}

func TestWriteScenes_ReadsBackAsClips(t *testing.T) {
	config := scenes.MovingConfig{Seed: 1, Split: "train", N: 3, Frames: 4}
	captions, err := SceneCaptions(config, scenes.CaptionsPerPicture)
	expect.OK(t, err)
	dir := filepath.Join(t.TempDir(), "scenes")
	expect.OK(t, WriteScenes(dir, config, captions))
	f := openFrames(t, FrameFiles{Features: filepath.Join(dir, "truth.npy"), Clips: filepath.Join(dir, "truth.csv")})
	read, err := ReadCaptions(t.Context(), filepath.Join(dir, CaptionsFile), "")
	expect.OK(t, err)
	words, _, err := BuildWords(AllTexts(read), WordOptions{MinCount: 1})
	expect.OK(t, err)
	s, err := Join(f, read, words, JoinOptions{})
	if err != nil || s.Clips() != 3 || s.Frames() != 4 || s.Pairs() != 3*scenes.CaptionsPerPicture {
		t.Fatalf("%+v (%v)", s, err)
	}
}

func TestSet_HoldOutPartsClips(t *testing.T) {
	w, _ := buildWords(t, WordOptions{}, "a dog", "cat")
	s, err := Join(memoryClips("xyz"), captionsOf("x:cat", "y:a dog", "z:a"), w, JoinOptions{})
	expect.OK(t, err)
	rest, out := s.HoldOut(map[string]bool{"y": true, "elsewhere": true})
	if rest.Clips() != 2 || rest.ID(1) != "z" || out.Clips() != 1 || out.ID(0) != "y" {
		t.Errorf("rest %v, held out %v", rest, out)
	}
	if rest, out := s.HoldOut(nil); rest.Clips() != 3 || out != nil {
		t.Errorf("nothing held out: rest %v, held out %v", rest, out)
	}
	if rest, out := s.HoldOut(map[string]bool{"x": true, "y": true, "z": true}); rest != nil || out.Clips() != 3 {
		t.Errorf("all held out: rest %v, held out %v", rest, out)
	}
}

func TestWriteScores_HasARowForEachCaption(t *testing.T) {
	items := []metrics.Item{{ID: "3", Candidate: "a ball", References: []string{"a ball"}}}
	result, err := metrics.Evaluate(t.Context(), items, nil)
	expect.OK(t, err)
	path := filepath.Join(t.TempDir(), "scores.csv")
	expect.OK(t, WriteScores(path, items, result))
	content, err := os.ReadFile(path)
	if lines := strings.Split(string(content), "\n"); err != nil || len(lines) != 3 ||
		!strings.HasPrefix(lines[1], "3,a ball,0.99999") {
		t.Errorf("%s (%v)", content, err)
	}
}
