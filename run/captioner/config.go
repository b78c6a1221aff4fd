package captioner

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"nmn/captioning"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/model/s2vt"
	"nmn/recipe"
	"nmn/run"
)

// Config is all that a captioner is trained by. It is written to the run folder, and reading that file back gives the
// same run.
type Config struct {
	// Preset names the values that the settings are laid over.
	Preset     Preset                 `yaml:"preset"`
	Data       DataConfig             `yaml:"data"`
	Net        NetConfig              `yaml:"net"`
	Train      captioning.Config      `yaml:"train"`
	Validation Search                 `yaml:"validation"`
	Words      captioning.WordOptions `yaml:"words"`
	Device     string                 `yaml:"device"`
	Threads    int                    `yaml:"threads"`

	// Build names the program that wrote the file; it is not read back.
	Build *run.Build `yaml:"build,omitempty"`
}

// DataConfig are the clips to learn from and those to judge by.
type DataConfig struct {
	Train ClipFiles `yaml:"train"`
	// Validation names clips to judge by. Its array is that of Train, and so are its captions where it has none.
	Validation ClipFiles `yaml:"validation"`
	// ValidationShare of the training clips is held out where Validation has no features.
	ValidationShare float64 `yaml:"validation_share"`
	Seed            uint64  `yaml:"seed"` // of which clips those are
	// MaxWords is the longest caption to learn, 0 for no limit. Longer ones are left out.
	MaxWords int `yaml:"max_words"`
	// Partial leaves out clips without captions and captions without clips, instead of refusing them.
	Partial    bool   `yaml:"partial"`
	Vocabulary string `yaml:"vocabulary"` // a file; empty makes one of the training captions
	// CaptionsRecipe Witness leaves out training captions that are of other clips, as the other captions of their clips
	// tell; Labels, and empty, learns all.
	CaptionsRecipe recipe.CaptionsForm `yaml:"captions_recipe,omitempty"`
}

// NetConfig are the sizes of the net that do not follow from the data.
type NetConfig struct {
	Embedding int     `yaml:"embedding"` // width that the features of a frame are embedded in
	Words     int     `yaml:"words"`     // width of word vectors
	Hidden    int     `yaml:"hidden"`    // cells of each of the two LSTMs
	Dropout   float64 `yaml:"dropout"`
}

// Search is how captions are looked for.
type Search struct {
	Beam          int     `yaml:"beam"`           // 1 takes the likeliest word at each step
	MaxLength     int     `yaml:"max_length"`     // words
	LengthPenalty float64 `yaml:"length_penalty"` // power of the length that log-probabilities are divided by
	Batch         int     `yaml:"batch"`          // clips at a time; captions do not depend on it
}

// DefaultSearch takes the likeliest word at each step.
func DefaultSearch() Search { return Search{Beam: 1, MaxLength: 30, Batch: 32} }

// Validate reports the first setting that is out of range, as a *setting.Error. That the files of the data are named
// is left to Open: there are runs on sets that were opened elsewhere.
func (c *Config) Validate() error {
	v := &c.Data.Validation
	switch d := &c.Data; {
	case v.Features == "" && (v.Clips != "" || v.IDs != "" || v.Captions != ""):
		return setting.Errorf("data.validation.features",
			"caption train: `captions.val_clips`, `captions.val_ids` and `captions.val_captions` belong to `captions.val_features`: give it too")
	case !(d.ValidationShare >= 0 && d.ValidationShare < 1):
		return setting.Errorf("data.validation_share",
			"caption train: `captions.validation_share` is %g, want at least 0 and less than 1", d.ValidationShare)
	case d.CaptionsRecipe != "" && d.CaptionsRecipe != recipe.Witness && d.CaptionsRecipe != recipe.Labels:
		return setting.Errorf("data.captions_recipe",
			"caption train: `captions.captions_recipe` is %q, want witness or labels", d.CaptionsRecipe)
	case d.MaxWords < 0 || d.MaxWords > 1000:
		return setting.Errorf("data.max_words", "caption train: `captions.max_words` is %d, want 0 (no limit) to 1000",
			d.MaxWords)
	case c.Words.MinCount < 0 || c.Words.Size < 0:
		return setting.Errorf("words", "caption train: `captions.min_count` and `captions.vocab_size` are at least 0")
	case c.Threads < 0:
		return setting.Errorf("threads", "caption train: `captions.threads` is %d, want at least 0", c.Threads)
	}
	if err := c.Train.Validate(); err != nil {
		return &setting.Error{Field: "train", Err: err}
	}
	if err := c.Model(1, 1, s2vt.Reserved+1).Validate(); err != nil {
		return &setting.Error{Field: "net", Err: err}
	}
	if err := c.Validation.Validate(); err != nil {
		return &setting.Error{Field: "validation", Err: fmt.Errorf("caption train: %w", err)}
	}
	return nil
}

// Validate reports the first setting that is out of range, as a *setting.Error.
func (s *Search) Validate() error {
	if s.Batch < 1 {
		return setting.Errorf("batch", "`captions.generate_batch` is %d, want at least 1", s.Batch)
	}
	if err := s.Generation().Search.Validate(s2vt.Reserved + 2); err != nil {
		return &setting.Error{Err: err}
	}
	return nil
}

// Generation says how captions are generated. One word more than those of the longest caption is its end.
func (s *Search) Generation() captioning.Generation {
	g := captioning.DefaultGeneration()
	g.Batch = s.Batch
	g.Search.Width, g.Search.MaxLength, g.Search.LengthPenalty = s.Beam, s.MaxLength+1, s.LengthPenalty
	return g
}

// Model is the net for clips of at most so many frames with width features each, and for so many ids of words.
func (c *Config) Model(frames, width, words int) s2vt.Config {
	return s2vt.Config{Frames: frames, Features: width, Vocabulary: words,
		Embedding: c.Net.Embedding, Words: c.Net.Words, Hidden: c.Net.Hidden, Dropout: c.Net.Dropout}
}

// Resources is how the device is opened. A captioner computes in float32 everywhere.
func (c *Config) Resources() run.Resources {
	return run.Resources{Device: c.Device, Threads: c.Threads, Precision: tensor.Auto}
}

// YAML writes the configuration as the file of a run folder.
func (c Config) YAML() ([]byte, error) { return yaml.Marshal(c) }
