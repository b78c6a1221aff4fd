package scenes

import (
	"context"
	"os"
	"path/filepath"

	"nmn/format/table"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/shard"
)

// Files next to the pictures or frames of a split.
const (
	vocabularyName = "vocabulary.txt"
	truthName      = "truth.csv"
)

// WriteFolder writes a split as Write does. Next to it, it writes the words in vocabularyName, and the true
// content of the pictures in truthName with a row for each file. The captions come last, and only if all else
// is complete.
func WriteFolder(ctx context.Context, config Config, noise *inject.Injection, folder string) (
	captions string, err error) {
	if err := CheckSplitName(config.Split); err != nil {
		return "", err
	}
	name := func(bag int) string { return FileName(config.Split, bag) }
	if err := writeTruth(folder, config, Make, name); err != nil {
		return "", err
	}
	return Write(ctx, config, noise, folder)
}

// WriteMovingFolder writes a split as WriteMoving does, and next to it the words and the truth of each clip.
// The labels come last.
func WriteMovingFolder(ctx context.Context, config MovingConfig, frames shard.Config, folder string) error {
	if err := writeTruth(folder, config, MakeMoving, nil); err != nil {
		return err
	}
	return WriteMoving(ctx, config, frames, folder)
}

// writeTruth makes the folder of a split and writes its words and truth. Rows of the truth have the names of bags,
// unless others are given.
func writeTruth[C interface{ Validate() error }](
	folder string, config C, set func(C) (*loader.Set, error), name func(bag int) string,
) error {
	if err := config.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	s, err := set(config)
	if err != nil {
		return err
	}
	if err := s.Vocabulary.WriteFile(filepath.Join(folder, vocabularyName)); err != nil {
		return err
	}
	ids := s.IDs
	if name != nil {
		ids = make([]string, s.Len())
		for bag := range ids {
			ids[bag] = name(bag)
		}
	}
	k, truth := s.Vocabulary.Len(), s.Truth.Uint8s()
	row := func(bag int) ([]uint8, error) { return truth[bag*k : (bag+1)*k], nil }
	return table.WriteFile(filepath.Join(folder, truthName), s.Vocabulary.Texts(), ids, s.Len(), row)
}
