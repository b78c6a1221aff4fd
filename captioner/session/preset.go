package session

import (
	"nmn/captioner"
	"nmn/captioner/s2vt"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/recipe"
	"nmn/train"
)

// Preset names a configuration to start from.
type Preset string

// The presets of captioners.
const (
	Paper        Preset = "paper"         // the sizes of section 4.4
	Small        Preset = "small"         // a smaller net than the paper's
	MovingScenes Preset = "moving-scenes" // for the embedded clips
)

// Presets lists all presets.
func Presets() []Preset { return []Preset{Paper, Small, MovingScenes} }

// FromPreset returns a configuration to start from. Settings that the paper does not state (section 4.4),
// such as rates, batches and dropout, come from the authors of S2VT or are common choices. An unknown name is
// a *setting.Error.
func FromPreset(name Preset) (Config, error) {
	c := Config{Preset: name, Device: "auto", Words: captioner.WordOptions{MinCount: 1},
		Train: captioner.DefaultConfig(),
		Data: DataConfig{
			Train:           ClipFiles{PerRow: 1, Split: loader.TrainSplit},
			Validation:      ClipFiles{PerRow: 1, Split: loader.ValidationSplit},
			ValidationShare: .1, Seed: 1, MaxWords: 30,
		},
		Validation: DefaultSearch()}
	switch t := &c.Train; name {
	case Paper:
		paper := s2vt.Paper(1, s2vt.Reserved+1)
		c.Net = NetConfig{Embedding: paper.Embedding, Words: paper.Words, Hidden: paper.Hidden, Dropout: paper.Dropout}
		t.Optimizer, t.LearningRate, t.Schedule, t.StepEvery, t.ClipNorm = train.SGD, .01, train.StepDown, 20_000, 10
	case Small:
		c.Net, c.Words.MinCount = NetConfig{Embedding: 256, Words: 128, Hidden: 256, Dropout: .3}, 3
		c.Data.CaptionsRecipe = recipe.Witness
	case MovingScenes:
		c.Net = NetConfig{Embedding: 64, Words: 32, Hidden: 96, Dropout: .2}
		t.Epochs, t.LearningRate, t.Patience = 20, 3e-3, 8
	default:
		return Config{}, setting.Errorf("preset", "preset is %q, want %s", name, setting.Alternatives(Presets()))
	}
	return c, nil
}
