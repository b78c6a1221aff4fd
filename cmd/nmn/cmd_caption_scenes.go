package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/loader/scenes"
	"nmn/run"
)

// captionScenes are the flags of nmn caption scenes.
type captionScenes struct {
	config  scenes.MovingConfig
	perClip int
	asJSON  bool
}

func newCaptionScenes(p *program) *cobra.Command {
	c := captionScenes{config: scenes.MovingConfig{Seed: 1, Split: "train", N: 1000, Frames: run.MovingFrames},
		perClip: scenes.CaptionsPerPicture}
	cmd := &cobra.Command{
		Use:   "scenes DIR",
		Short: "Write captions and true concepts of the moving scenes",
		Long: `Write a split of the moving scenes to a folder, to try captioning: captions.json with noisy
captions of each clip, truth.npy with the true concepts of each frame, and truth.csv.`,
		Annotations: details(`truth.csv has the rows of each clip. nmn train --preset moving-scenes uses the same clips for the
same seed, split and frames, so features from nmn extract --per-frame fit these captions.`),
		Example: `  nmn caption scenes scenes/train
  nmn caption train --features scenes/train/truth.npy --clips scenes/train/truth.csv \
    --captions scenes/train/captions.json --run-dir runs/captions`,
		Args:              arguments(p, counted(1, 1)),
		ValidArgsFunction: completeFolders,
		RunE:              func(_ *cobra.Command, args []string) error { return c.run(p, args[0]) },
	}
	data := under(cmd, "Data")
	data.string(&c.config.Split, "split", "write the split with this `name`: train, val or test")
	data.int(&c.config.N, "number", "write this many `clips`")
	data.int(&c.config.Frames, "frames", "draw this many `frames` for each clip")
	data.int(&c.perClip, "captions-per-clip", "write this many `captions` for each clip")
	data.uint64(&c.config.Seed, "seed", "draw from this `seed`")
	under(cmd, "Output").bool(&c.asJSON, "json", "print JSON")
	return cmd
}

func (c *captionScenes) run(p *program, dir string) error {
	if err := c.config.Validate(); err != nil {
		return usageError{err}
	}
	captions, err := captioner.SceneCaptions(c.config, c.perClip)
	if err != nil {
		return usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return err
	}
	if err := captioner.WriteScenes(dir, c.config, captions); err != nil {
		return err
	}
	path := filepath.Join(dir, captioner.CaptionsFile)
	return p.print(c.asJSON, map[string]any{"captions": path, "features": filepath.Join(dir, "truth.npy"),
		"clips": len(captions.IDs), "frames": c.config.Frames}, "%s\n", path)
}
