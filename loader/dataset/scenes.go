package dataset

import (
	"context"
	"fmt"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/scenes"
)

// SceneConfig is the number of pictures that are drawn for each split, or of clips and the frames of each.
type SceneConfig struct {
	TrainSize      int `yaml:"train_size" help:"scenes: training <pictures>, or clips of moving scenes" range:"[0,]"`
	ValidationSize int `yaml:"validation_size" help:"scenes: validation <pictures> or clips, 0 for none" range:"[0,]"`
	TestSize       int `yaml:"test_size" help:"scenes: test <pictures> or clips" range:"[0,]"`
	Frames         int `yaml:"frames,omitempty" of:"moving-scenes" help:"moving scenes: <frames> of each clip" range:"[0,]"`
}

// checkScenes refuses scenes that cannot be drawn.
func (d *Config) checkScenes() error {
	switch {
	case !d.Embedded():
		return nil
	case d.TrainSize == 0 || d.TestSize == 0:
		return setting.Errorf("data.train_size", "data.train_size is %d and data.test_size %d, want at least 1", d.TrainSize,
			d.TestSize)
	case d.Classes == Exclusive && d.Set == MovingScenes:
		return setting.Errorf("data.classes", "`data.classes` is exclusive, and moving scenes have no main object: give "+
			"`data.set` scenes")
	case d.NoiseKind.Relabels() && d.Classes != Exclusive:
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces the one label of a picture: give "+
			"`data.classes` exclusive too", d.NoiseKind)
	}
	return nil
}

// Bags returns the plural noun for samples of the scenes.
func (d *Config) Bags() string {
	if d.Set == MovingScenes {
		return fmt.Sprintf("clips of %d frames", d.Frames)
	}
	return "pictures"
}

func (d *Splits) openScenes(_ context.Context, c *Config) error {
	for _, split := range []struct {
		name string
		n    int
		to   **loader.Set
	}{{"train", c.TrainSize, &d.Train}, {"val", c.ValidationSize, &d.Validation}, {"test", c.TestSize, &d.Test}} {
		if split.n == 0 {
			continue
		}
		var err error
		if c.Set == MovingScenes {
			*split.to, err = scenes.MakeMoving(scenes.MovingConfig{Seed: c.Seed, Split: split.name, N: split.n,
				Frames: c.Frames, Cache: true})
		} else {
			*split.to, err = scenes.Make(scenes.Config{Seed: c.Seed, Split: split.name, N: split.n, Cache: true,
				MainObject: c.Classes == Exclusive})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
