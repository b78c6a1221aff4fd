package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/scenes"
	"nmn/loader/shard"
	"nmn/recipe"
	"nmn/run"
)

// scenesCommand are the flags of nmn scenes.
type scenesCommand struct {
	scenes scenes.Config
	moving bool
	frames int
	form   shard.Form
	asJSON bool
}

func newScenes(p *program) *cobra.Command {
	c := scenesCommand{scenes: scenes.Config{Split: "train", N: 200, Seed: 1}, frames: run.MovingFrames, form: shard.Shards}
	cmd := &cobra.Command{
		Use:   "scenes DIR",
		Short: "Write pictures and captions of the built-in data set to a folder",
		Long: `Write a split of the built-in scenes data set to a folder, in the shape of COCO:
images/ with the pictures, captions_SPLIT2014.json with five captions each,
vocabulary.txt with the words, and truth.csv with what the pictures really show. It is a
way to try --captions and --images. The path of the captions goes to standard output.

With --moving it is a split of the moving scenes, as nmn frames would write its clips: the
frames with their index, and beside them labels.jsonl with five captions of each clip and
what it really shows, vocabulary.txt and truth.csv. nmn train --clips takes the folder,
whose path goes to standard output.`,
		Example: `  nmn scenes --number 500 /tmp/scenes
  nmn train --preset scenes --captions /tmp/scenes/captions_train2014.json \
    --images /tmp/scenes/images --vocab /tmp/scenes/vocabulary.txt --run-dir runs/captions
  nmn scenes --moving --number 500 /tmp/moving
  nmn train --preset moving-scenes --clips /tmp/moving --vocab /tmp/moving/vocabulary.txt --run-dir runs/clips`,
		Args:              arguments(p, cobra.ExactArgs(1)),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd, p, args[0]) },
		ValidArgsFunction: completeFolders,
	}
	data := under(cmd, "Data")
	data.string(&c.scenes.Split, "split", "`name` of the split; splits of one seed share no picture")
	data.int(&c.scenes.N, "number", "number of `pictures` or clips")
	data.uint64(&c.scenes.Seed, "seed", "`seed` of all random draws")
	data.bool(&c.moving, "moving", "clips in which shapes move, come and go")
	data.int(&c.frames, "frames", "--moving: `frames` of each clip")
	out := under(cmd, "Output")
	enum(out, &c.form, "format", "--moving: `form` of the frames", shard.Shards, shard.Folder)
	out.bool(&c.asJSON, "json", "write JSON")
	return cmd
}

func (c *scenesCommand) run(cmd *cobra.Command, p *program, dir string) error {
	for _, flag := range []string{"frames", "format"} {
		if cmd.Flags().Changed(flag) && !c.moving {
			return usagef("scenes: --%s is for clips: add --moving", flag)
		}
	}
	write, kind := c.still, "pictures"
	if c.moving {
		write, kind = c.clips, "clips"
	}
	written, err := write(cmd.Context(), dir)
	if err != nil {
		return err
	}
	p.log.Info("scenes written", "dir", dir, kind, c.scenes.N)
	switch {
	case c.asJSON && c.moving:
		return writeJSON(p.out, map[string]any{"clips": written, "number": c.scenes.N, "frames": c.frames})
	case c.asJSON:
		return writeJSON(p.out, map[string]any{"captions": written, "images": filepath.Join(dir, "images"), "pictures": c.scenes.N})
	}
	_, err = fmt.Fprintln(p.out, written)
	return err
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// still writes the folder; the captions come last, and only where all else is whole.
func (c *scenesCommand) still(ctx context.Context, dir string) (captions string, err error) {
	if err := scenes.CheckSplitName(c.scenes.Split); err != nil {
		return "", usageError{err}
	}
	name := func(bag int) string { return scenes.FileName(c.scenes.Split, bag) }
	if err := begin(dir, c.scenes, scenes.Make, name); err != nil {
		return "", err
	}
	return scenes.Write(ctx, c.scenes, dir)
}

// clips writes the folder; the labels come last.
func (c *scenesCommand) clips(ctx context.Context, dir string) (string, error) {
	config := scenes.MovingConfig{Seed: c.scenes.Seed, Split: c.scenes.Split, N: c.scenes.N, Frames: c.frames}
	if err := begin(dir, config, scenes.MakeMoving, nil); err != nil {
		return "", err
	}
	frames := shard.DefaultConfig()
	frames.Form = c.form
	return dir, scenes.WriteMoving(ctx, config, frames, dir)
}

// begin makes the folder of a split and writes its words and truth. Rows of the truth have the names of bags,
// unless others are given.
func begin[C interface{ Validate() error }](dir string, config C, set func(C) (*loader.Set, error), name func(bag int) string) error {
	if err := config.Validate(); err != nil {
		return usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	s, err := set(config)
	if err != nil {
		return err
	}
	if err := s.Vocabulary.WriteFile(filepath.Join(dir, run.VocabularyFile)); err != nil {
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
	return dataset.WriteLabels(filepath.Join(dir, recipe.TruthFile), s.Vocabulary.Texts(), ids, s.Len(), func(bag int) ([]uint8, error) {
		return truth[bag*k : (bag+1)*k], nil
	})
}

// refuseFilled refuses a folder that has anything in it.
func refuseFilled(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	return usagef("%s is not empty: name a new folder, or empty this one", dir)
}
