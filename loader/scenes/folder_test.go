package scenes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/format/table"
	"nmn/loader/shard"
	"nmn/text"
)

func TestWrite_TruthHasTheNamesOfTheFiles(t *testing.T) {
	config, dir := Config{Split: "train", N: 3, Seed: 1}, filepath.Join(t.TempDir(), "new", "scenes")
	captions, err := Write(t.Context(), config, nil, dir)
	check(t, err)
	if _, err := os.Stat(captions); err != nil {
		t.Error(err)
	}
	truth, err := table.ReadLabels(filepath.Join(dir, truthName))
	check(t, err)
	set, err := Make(config)
	check(t, err)
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
	check(t, WriteMoving(t.Context(), config, shard.DefaultConfig(), dir))
	found, err := shard.CheckFolder(t.Context(), dir)
	if err != nil || found.Clips != 2 || found.Frames != 6 || found.Form != shard.Shards {
		t.Errorf("found %+v, %v", found, err)
	}
	if rebuilt, err := shard.RebuildFolder(dir); err != nil || rebuilt != found {
		t.Errorf("rebuilt %+v, want %+v (%v)", rebuilt, found, err)
	}
	set, err := MakeMoving(config)
	check(t, err)
	if truth, err := table.ReadLabels(filepath.Join(dir, truthName)); err != nil || !slices.Equal(truth.IDs, set.IDs) {
		t.Errorf("truth of %+v, %v", truth, err)
	}
}
