package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"nmn/captioning"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model/s2vt"
	"nmn/run"
	"nmn/train"
)

// captionConfig is all that a captioner is trained by; config.yaml of its folder.
type captionConfig struct {
	Preset     captionPreset          `yaml:"preset"`
	Data       captionData            `yaml:"data"`
	Net        captionNet             `yaml:"net"`
	Train      captioning.Config      `yaml:"train"`
	Validation captionSearch          `yaml:"validation"`
	Words      captioning.WordOptions `yaml:"words"`
	Device     string                 `yaml:"device"`
	Threads    int                    `yaml:"threads"`
	Build      *run.Build             `yaml:"build,omitempty"`
}

// captionData are the clips to learn from and those to judge by.
type captionData struct {
	Train      clipFiles `yaml:"train"`
	Validation clipFiles `yaml:"validation"`
	// ValidationShare of the training clips is held out where no features of validation clips are given.
	ValidationShare float64 `yaml:"validation_share"`
	Seed            uint64  `yaml:"seed"` // of which clips those are
	MaxWords        int     `yaml:"max_words"`
	Partial         bool    `yaml:"partial"`
	Vocabulary      string  `yaml:"vocabulary"` // file; empty for one of the training captions
}

// captionNet are the sizes of the net that data do not tell.
type captionNet struct {
	Embedding int     `yaml:"embedding"`
	Words     int     `yaml:"words"`
	Hidden    int     `yaml:"hidden"`
	Dropout   float64 `yaml:"dropout"`
}

// captionSearch is how captions are looked for.
type captionSearch struct {
	Beam          int     `yaml:"beam"`
	MaxLength     int     `yaml:"max_length"`
	LengthPenalty float64 `yaml:"length_penalty"`
	Batch         int     `yaml:"batch"`
}

// defaultSearch takes the likeliest word at each step.
func defaultSearch() captionSearch { return captionSearch{Beam: 1, MaxLength: 30, Batch: 32} }

// captionPreset names a place to start from.
type captionPreset string

const (
	captionPaper  captionPreset = "paper"
	captionSmall  captionPreset = "small"
	captionScenic captionPreset = "moving-scenes"
)

func captionPresets() []captionPreset {
	return []captionPreset{captionPaper, captionSmall, captionScenic}
}

// captionBase is what a preset sets. What the paper does not tell of its captioner (section 4.4), such as
// rates, batches and dropout, is as the authors of S2VT have it, or an ordinary choice.
func captionBase(preset captionPreset) captionConfig {
	c := captionConfig{Preset: preset, Device: "auto", Words: captioning.WordOptions{MinCount: 1}, Train: captioning.DefaultConfig(),
		Data: captionData{Train: clipFiles{PerRow: 1, Split: loader.TrainSplit}, Validation: clipFiles{PerRow: 1, Split: loader.ValidationSplit},
			ValidationShare: .1, Seed: 1, MaxWords: 30},
		Validation: defaultSearch()}
	switch paper := s2vt.Paper(1, s2vt.Reserved+1); preset {
	case captionPaper:
		c.Net = captionNet{paper.Embedding, paper.Words, paper.Hidden, paper.Dropout}
		c.Train.Optimizer, c.Train.LearningRate, c.Train.Schedule, c.Train.StepEvery, c.Train.ClipNorm = train.SGD, .01, train.StepDown, 20_000, 10
	case captionSmall:
		c.Net, c.Words.MinCount = captionNet{256, 128, 256, .3}, 3
	case captionScenic:
		c.Net = captionNet{64, 32, 96, .2}
		c.Train.Epochs, c.Train.LearningRate, c.Train.Patience = 20, 3e-3, 8
	}
	return c
}

func (c *captionConfig) validate() error {
	switch d := &c.Data; {
	case !(d.ValidationShare >= 0 && d.ValidationShare < 1):
		return usagef("caption train: --validation-share is %g, want at least 0 and less than 1", d.ValidationShare)
	case d.MaxWords < 0 || d.MaxWords > 1000:
		return usagef("caption train: --max-words is %d, want 0 (no limit) to 1000", d.MaxWords)
	case c.Words.MinCount < 0 || c.Words.Size < 0:
		return usagef("caption train: --min-count and --vocab-size are at least 0")
	case c.Threads < 0:
		return usagef("caption train: --threads is %d, want at least 0", c.Threads)
	}
	if err := c.Train.Validate(); err != nil {
		return usageError{err}
	}
	if err := c.model(1, 1, s2vt.Reserved+1).Validate(); err != nil {
		return usageError{err}
	}
	return c.Validation.validate("caption train")
}

// model is the net for data.
func (c *captionConfig) model(frames, width, words int) s2vt.Config {
	return s2vt.Config{Frames: frames, Features: width, Vocabulary: words, Embedding: c.Net.Embedding, Words: c.Net.Words, Hidden: c.Net.Hidden, Dropout: c.Net.Dropout}
}

// run is how the device is opened. A captioner computes in float32 everywhere.
func (c *captionConfig) run() run.Resources {
	return run.Resources{Device: c.Device, Threads: c.Threads, Precision: tensor.Auto}
}

func (s *captionSearch) validate(command string) error {
	if s.Batch < 1 {
		return usagef("%s: --generate-batch is %d, want at least 1", command, s.Batch)
	}
	if err := s.generation().Search.Validate(s2vt.Reserved + 2); err != nil {
		return usageError{fmt.Errorf("%s: %w", command, err)}
	}
	return nil
}

// generation says how captions are generated. One word more than those of the longest caption is its end.
func (s *captionSearch) generation() captioning.Generation {
	g := captioning.DefaultGeneration()
	g.Search.Width, g.Search.MaxLength, g.Search.LengthPenalty, g.Batch = s.Beam, s.MaxLength+1, s.LengthPenalty, s.Batch
	return g
}

func (s *captionSearch) flags(r group) {
	r.int(&s.Beam, "beam", "`hypotheses` of a clip that are followed; 1 takes the likeliest word at each step")
	r.float(&s.LengthPenalty, "length-penalty", "`power` of the length that log-probabilities are divided by before they are compared; 0 favours short captions, 1 compares means over words")
	r.int(&s.MaxLength, "max-length", "most `words` of a generated caption")
	r.int(&s.Batch, "generate-batch", "`clips` captioned at a time. Captions do not depend on it")
}

// deviceFlags declare the device of a captioner.
func deviceFlags(cmd *cobra.Command, r group, device *string, threads *int) {
	deviceFlag(cmd, r, device)
	r.int(threads, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
}

// flags declare all settings of the configuration.
func (c *captionConfig) flags(cmd *cobra.Command) {
	clips := under(cmd, "Clips")
	d := &c.Data
	d.Train.featureFlags(clips, "", " to learn from")
	clips.string(&d.Train.Array, "feature-array", "`name` of the array in .npz and .safetensors files of several")
	d.Train.captionFlags(clips, "", " that people wrote of them")
	clips.bool(&d.Partial, "partial", "leave out clips without captions and captions without clips, instead of refusing them")
	clips.int(&d.MaxWords, "max-words", "longest caption to learn, in `words`; longer ones are left out; 0 for no limit")
	v := under(cmd, "Validation")
	d.Validation.featureFlags(v, "val-", " to judge by (default: a share of the clips)")
	d.Validation.captionFlags(v, "val-", " of them (default: --captions)")
	v.float(&d.ValidationShare, "validation-share", "`share` of the clips held out to judge by, where no --val-features are given; 0 for none")
	v.uint64(&d.Seed, "validation-seed", "`seed` of which clips are held out")
	c.Validation.flags(v)
	w := under(cmd, "Words")
	wordFlags(w, &c.Words)
	w.file(&d.Vocabulary, "vocab", "`file` of a vocabulary, of nmn caption vocab (default: made of the training captions)", "txt")
	n := under(cmd, "Net")
	n.int(&c.Net.Embedding, "embedding", "`width` that the features of a frame are embedded in")
	n.int(&c.Net.Words, "word-embedding", "`width` of word vectors")
	n.int(&c.Net.Hidden, "hidden", "`cells` of each of the two LSTMs")
	n.float(&c.Net.Dropout, "dropout", "`share` of zeros put into embedded frames, words and the output, while training")
	c.trainFlags(cmd)
	deviceFlags(cmd, under(cmd, "Run"), &c.Device, &c.Threads)
}

func (c *captionConfig) trainFlags(cmd *cobra.Command) {
	t, r := &c.Train, under(cmd, "Training")
	r.int(&t.Epochs, "epochs", "most `epochs`; 0 for no limit by them")
	r.int(&t.MaxSteps, "max-steps", "most `steps`; 0 for no limit by them")
	r.int(&t.Batch, "batch-size", "`captions` in a step, each with its clip")
	enum(r, &t.Optimizer, "optimizer", "`optimizer`", train.SGD, train.Adam)
	r.float(&t.LearningRate, "learning-rate", "`rate` at the start; the loss is summed over the words of a caption and averaged over captions")
	enum(r, &t.Schedule, "schedule", "`schedule` of the rate", train.Constant, train.StepDown, train.Cosine)
	r.int(&t.WarmupSteps, "warmup-steps", "`steps` of linear rise at the start")
	r.int(&t.StepEvery, "step-every", "schedule step: `steps` between drops of the rate")
	r.float(&t.StepFactor, "step-factor", "schedule step: `factor` of a drop")
	r.float(&t.CosineFloor, "cosine-floor", "schedule cosine: `share` of the rate at the end")
	r.float(&t.Momentum, "momentum", "sgd: `momentum`")
	r.float(&t.Beta1, "beta1", "adam: decay of the first `moment`")
	r.float(&t.Beta2, "beta2", "adam: decay of the second `moment`")
	r.float(&t.Epsilon, "epsilon", "adam: `term` beside the root")
	r.float(&t.WeightDecay, "weight-decay", "`factor` of L2 on weights, not on biases")
	r.float(&t.ClipNorm, "clip-norm", "largest Euclidean `norm` of the gradient; 0 for no limit")
	r.uint64(&t.Seed, "seed", "`seed` of start, order and dropout")
	r.int(&t.ValidateEpochs, "validate-epochs", "`epochs` between validations; 0 for none")
	r.int(&t.Patience, "patience", "end after so many `validations` without a better CIDEr-D; 0 for never")
	r.int(&t.CheckpointSteps, "checkpoint-steps", "`steps` between checkpoints within an epoch; 0 for none")
	r.int(&t.LogSteps, "log-interval", "`steps` between lines of progress in the log")
}

func (c captionConfig) yaml() ([]byte, error) { return yaml.Marshal(c) }
