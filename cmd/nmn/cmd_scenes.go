package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/loader/dataset"
	"nmn/loader/scenes"
	"nmn/loader/shard"
	"nmn/run"
)

// scenesCommand are the flags of nmn scenes.
type scenesCommand struct {
	scenes scenes.Config
	moving bool
	frames int
	form   shard.Form
	flips  dataset.FlipLevel
	asJSON bool
}

func newScenes(p *program) *cobra.Command {
	c := scenesCommand{scenes: scenes.Config{Split: "train", N: 200, Seed: 1}, frames: run.MovingFrames,
		form: shard.Shards}
	cmd := &cobra.Command{
		Use:   "scenes DIR",
		Short: "Write pictures and captions of the built-in data set to a folder",
		Long: `Write a split of the built-in scenes data set to a folder, in the shape of COCO:
images/ with the pictures, captions_SPLIT2014.json with five captions each,
vocabulary.txt with the words, and truth.csv with what the pictures really show. It is a
way to try --captions and --images. The path of the captions goes to standard output.

With --moving it is a split of the moving scenes, as nmn frames would write its clips: the
frames with their index, and beside them labels.jsonl with five captions of each clip and
what it really shows, vocabulary.txt and truth.csv. nmn train takes the folder,
whose path goes to standard output.

With --flips the pictures have a manifest too, pictures.csv, in whose labels a share is
wrong: labels that hold are missing, and others are there that do not. It has the true
labels as well, and its path goes to standard output. nmn train takes it.`,
		Example: `  nmn scenes --number 500 /tmp/scenes
  nmn train /tmp/scenes/captions_train2014.json --preset scenes \
    --images /tmp/scenes/images --vocab /tmp/scenes/vocabulary.txt --run-dir runs/captions
  nmn scenes --number 500 --flips 0.3:0.02 /tmp/noisy
  nmn train /tmp/noisy/pictures.csv --preset scenes --run-dir runs/noisy
  nmn scenes --moving --number 500 /tmp/moving
  nmn train /tmp/moving --preset moving-scenes --vocab /tmp/moving/vocabulary.txt --run-dir runs/clips`,
		Args:              arguments(p, cobra.ExactArgs(1)),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd, p, args[0]) },
		ValidArgsFunction: completeFolders,
	}
	data := under(cmd, "Data")
	data.string(&c.scenes.Split, "split", "`name` of the split; splits of one seed share no picture")
	data.int(&c.scenes.N, "number", "number of `pictures` or clips")
	data.uint64(&c.scenes.Seed, "seed", "`seed` of all random draws")
	data.bool(&c.moving, "moving", "clips in which shapes move, come and go")
	data.value(&c.flips, "flips", "write a manifest too, in which a label that holds is missing, and one that "+
		"does not is there, with these two `probabilities`")
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
	if c.flips != "" && c.moving {
		return usagef("scenes: --flips is for pictures: leave out --moving")
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
		return writeJSON(p.out, map[string]any{"captions": written, "images": filepath.Join(dir, "images"),
			"pictures": c.scenes.N})
	}
	_, err = fmt.Fprintln(p.out, written)
	return err
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// still writes pictures, and returns the path of their captions.
func (c *scenesCommand) still(ctx context.Context, dir string) (captions string, err error) {
	if err := cmp.Or(scenes.CheckSplitName(c.scenes.Split), c.scenes.Validate()); err != nil {
		return "", usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return "", err
	}
	captions, err = scenes.WriteFolder(ctx, c.scenes, dir)
	if err != nil || c.flips == "" {
		return captions, err
	}
	missing, incorrect, err := c.flips.Rates()
	if err != nil {
		return "", usageError{err}
	}
	return scenes.WriteManifest(ctx, c.scenes, missing, incorrect, dir)
}

// clips writes clips, and returns their folder.
func (c *scenesCommand) clips(ctx context.Context, dir string) (string, error) {
	config := scenes.MovingConfig{Seed: c.scenes.Seed, Split: c.scenes.Split, N: c.scenes.N, Frames: c.frames}
	if err := config.Validate(); err != nil {
		return "", usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return "", err
	}
	frames := shard.DefaultConfig()
	frames.Form = c.form
	return dir, scenes.WriteMovingFolder(ctx, config, frames, dir)
}

// refuseFilled refuses a folder that has anything in it: what is written there has names of its own, and might take the
// place of somebody's file.
func refuseFilled(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	return usagef("%s is not empty, it has %s: name a new folder, or remove this one, also where an earlier try that was "+
		"broken off has made it, which cannot be gone on with", dir, entries[0].Name())
}
