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

	"nmn/captioner"
	"nmn/labels/inject"
	"nmn/loader/dataset"
	"nmn/loader/scenes"
	"nmn/loader/shard"
	"nmn/run"
)

type scenesCommand struct {
	scenes scenes.Config
	moving bool
	frames int
	form   clipForm
	flips  dataset.FlipLevel
	noise  inject.Plan
	asJSON bool
}

func newScenes(p *program) *cobra.Command {
	c := scenesCommand{scenes: scenes.Config{Split: "train", N: 200, Seed: 1}, frames: run.MovingFrames,
		form: pictured, noise: inject.Plan{Kind: inject.Uniform}}
	cmd := &cobra.Command{
		Use:   "scenes DIR",
		Short: "Write the built-in pictures or clips to a folder",
		Long: `Write a split of the built-in scenes to a folder, with captions in the form of COCO.
With --replace-captions some captions belong to other pictures; with --flips also write a list
with noisy labels; with --moving write clips instead.`,
		Annotations: details(`images/ has the pictures, captions_SPLIT2014.json five captions of each, vocabulary.txt the words,
and truth.csv the true labels. Standard output has the path for nmn train.

--moving writes frames as nmn frames does, with labels.jsonl (five captions and the true labels
of each clip), vocabulary.txt and truth.csv. --replace-captions SHARE replaces captions of pictures
as nmn noise does, and truth.csv keeps the true labels. --flips MISSING:INCORRECT writes pictures.csv, in
which true labels are missing and wrong labels are added with these probabilities. It has the
true labels as well.

--format concepts writes no frames: captions.json has the captions of each clip of --moving, truth.npy
the true concepts of each frame, and truth.csv the rows of each clip, to try nmn caption train.`),
		Example: `  nmn scenes --number 500 --flips 0.3:0.02 /tmp/noisy
  nmn train /tmp/noisy/pictures.csv --preset scenes --run-dir runs/noisy
  nmn scenes --moving --number 500 /tmp/moving`,
		Args:              arguments(p, counted(1, 1)),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args[0]) },
		ValidArgsFunction: completeFolders,
	}
	data := under(cmd, "Data")
	data.string(&c.scenes.Split, "split", "write the split with this `name`")
	data.int(&c.scenes.N, "number", "write this many `pictures` or clips")
	data.uint64(&c.scenes.Seed, "seed", "draw from this `seed`")
	data.bool(&c.moving, "moving", "write clips of moving shapes")
	data.value(&c.flips, "flips", "also write a list with noisy labels, `missing:incorrect`")
	data.float(&c.noise.Share, "replace-captions", "replace this `share` of captions by captions of other pictures",
		"[0,1]")
	enum(data, &c.noise.Kind, "kind", "replace captions in this `way`", inject.CaptionKinds()...)
	data.int(&c.frames, "frames", "draw this many `frames` for each clip")
	out := under(cmd, "Output")
	enum(out, &c.form, "format", "write clips in this `form`", pictured, concepts)
	data.needs("replace-captions", "kind")
	data.needs("moving", "frames", "format")
	data.excludes("moving", "flips", "replace-captions")
	out.bool(&c.asJSON, "json", "print JSON")
	return cmd
}

func (c *scenesCommand) run(ctx context.Context, p *program, dir string) error {
	write, kind := c.still, "pictures"
	if c.moving {
		write, kind = c.clips, "clips"
	}
	written, err := write(ctx, dir)
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
	if err == nil {
		p.message(run.Message{Topic: "next", Text: c.next(dir, written)})
	}
	return err
}

// next returns the command that trains on the written files.
func (c *scenesCommand) next(dir, written string) string {
	if c.form == concepts {
		return shellLine([]string{"nmn", "caption", "train", "--features", filepath.Join(dir, "truth.npy"), "--clips",
			filepath.Join(dir, "truth.csv"), "--captions", written})
	}
	line := []string{"nmn", "train", written, "--preset", "scenes"}
	if c.moving {
		line[4] = "moving-scenes"
	} else if c.flips == "" {
		line = append(line, "--images", filepath.Join(dir, "images"))
	}
	return shellLine(append(line, "--vocab", filepath.Join(dir, "vocabulary.txt")))
}

// still writes pictures, and returns the path of their captions.
func (c *scenesCommand) still(ctx context.Context, dir string) (captions string, err error) {
	if err := cmp.Or(scenes.CheckSplitName(c.scenes.Split), c.scenes.Validate()); err != nil {
		return "", usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return "", err
	}
	noise, err := c.replaced()
	if err != nil {
		return "", err
	}
	captions, err = scenes.Write(ctx, c.scenes, noise, dir)
	if err != nil || c.flips == "" {
		return captions, err
	}
	missing, incorrect, err := c.flips.Rates()
	if err != nil {
		return "", usageError{err}
	}
	return scenes.WriteManifest(ctx, c.scenes, missing, incorrect, dir)
}

// replaced draws which captions are replaced, or returns nil for none.
func (c *scenesCommand) replaced() (*inject.Injection, error) {
	if c.noise.Share == 0 {
		return nil, nil
	}
	set, err := scenes.Make(c.scenes)
	if err != nil {
		return nil, err
	}
	c.noise.Seed = c.scenes.Seed
	noise, err := c.noise.Draw(set)
	if err != nil {
		return nil, usageError{err}
	}
	return noise, nil
}

// clipForm is how clips are written: frames, or what they show, for captioners.
type clipForm string

const (
	pictured clipForm = "shards"
	concepts clipForm = "concepts"
)

// clips writes clips, and returns the path of their folder or captions.
func (c *scenesCommand) clips(ctx context.Context, dir string) (string, error) {
	config := scenes.MovingConfig{Seed: c.scenes.Seed, Split: c.scenes.Split, N: c.scenes.N, Frames: c.frames}
	if err := config.Validate(); err != nil {
		return "", usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return "", err
	}
	if c.form == concepts {
		captions, err := captioner.SceneCaptions(config, scenes.CaptionsPerPicture)
		if err == nil {
			err = captioner.WriteScenes(dir, config, captions)
		}
		return filepath.Join(dir, captioner.CaptionsFile), err
	}
	return dir, scenes.WriteMoving(ctx, config, shard.DefaultConfig(), dir)
}

// refuseFilled refuses a folder that is not empty, because a written file could replace a file of the user.
func refuseFilled(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	return usagef("%s is not empty, it has %s: give a new folder, or remove this one if an interrupted call has "+
		"left it", dir, entries[0].Name())
}
