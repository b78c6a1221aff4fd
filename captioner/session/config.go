package session

import (
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"

	"nmn/captioner"
	"nmn/captioner/s2vt"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// Config is all that a captioner is trained by. It is written to the run folder, and reading that file back gives the
// same run.
type Config struct {
	// Preset names the values that the settings are laid over.
	Preset     Preset                `yaml:"preset" help:"<settings> to start from; paper has the sizes of section 4.4"`
	Data       DataConfig            `yaml:"data"`
	Net        NetConfig             `yaml:"net"`
	Train      captioner.Config      `yaml:"train"`
	Validation Search                `yaml:"validation"`
	Words      captioner.WordOptions `yaml:"words"`
	Device     string                `yaml:"device" help:"compute on this <device>: auto, cpu, cuda or cuda:n"`
	Threads    int                   `yaml:"threads" help:"compute with this many <goroutines>; 0 is one for each processor. Results are the same" range:"[0,]"`

	// Build names the program that wrote the file; it is not read back.
	Build *run.Build `yaml:"build,omitempty"`
}

// DataConfig are the clips to learn from and those to judge by.
type DataConfig struct {
	Train ClipFiles `yaml:"train"`
	// Validation names validation clips. They have the array of Train, and by default also its captions.
	Validation ClipFiles `yaml:"validation"`
	// ValidationShare of the training clips is held out if Validation has no features.
	ValidationShare float64 `yaml:"validation_share" help:"<share> of the clips held out for validation" range:"[0,1)"`
	Seed            uint64  `yaml:"seed" help:"<seed> for holding out clips"`
	// MaxWords is the longest caption to learn, 0 for no limit. Longer ones are left out.
	MaxWords int `yaml:"max_words" help:"longest caption to learn, in <words>; 0 for no limit" range:"[0,1000]"`
	// Partial leaves out clips without captions and captions without clips, instead of refusing them.
	Partial    bool   `yaml:"partial" help:"leave out clips without captions and captions without clips"`
	Vocabulary string `yaml:"vocabulary" help:"read the captioner's vocabulary from this <file>; empty builds one"`
	// CaptionsRecipe selects training captions. Witness leaves out captions that probably belong to other
	// clips, judged by the other captions of their clips. Labels, and empty, use all captions.
	CaptionsRecipe recipe.CaptionsForm `yaml:"captions_recipe,omitempty" help:"how captions are used: witness leaves out captions of other clips, labels uses all" values:"witness,labels"`
}

// NetConfig are the sizes of the net that do not follow from the data.
type NetConfig struct {
	Embedding int     `yaml:"embedding" help:"<width> of the embedding of a frame"`
	Words     int     `yaml:"words" help:"<width> of word vectors"`
	Hidden    int     `yaml:"hidden" help:"<cells> of each of the two LSTMs"`
	Dropout   float64 `yaml:"dropout" help:"<share> of embedded frames, words and outputs set to 0 in training"`
}

// Search is how captions are looked for.
type Search struct {
	Beam          int     `yaml:"beam" help:"beam size: <hypotheses> kept for each clip; 1 takes the likeliest word at each step"`
	MaxLength     int     `yaml:"max_length" help:"most <words> of a generated caption"`
	LengthPenalty float64 `yaml:"length_penalty" help:"divide log-probabilities by the length to this <power> before comparing captions"`
	Batch         int     `yaml:"batch" help:"caption this many <clips> at a time. Captions do not depend on it" range:"[1,]"`
}

// DefaultSearch takes the likeliest word at each step.
func DefaultSearch() Search { return Search{Beam: 1, MaxLength: 30, Batch: 32} }

// Validate reports the first setting that is out of range, as a *setting.Error. That the files of the data are named
// is left to Open: there are runs on sets that were opened elsewhere.
func (c *Config) Validate() error {
	if v := &c.Data.Validation; v.Features == "" && (v.Clips != "" || v.IDs != "" || v.Captions != "") {
		return setting.Errorf("data.validation.features",
			"caption train: `captions.val_clips`, `captions.val_ids` and `captions.val_captions` belong to "+
				"`captions.val_features`: give it too")
	}
	if err := setting.Check("", c); err != nil {
		return err
	}
	if err := c.Train.Validate(); err != nil {
		return &setting.Error{Key: "train", Reason: err}
	}
	if err := c.Model(1, 1, s2vt.Reserved+1).Validate(); err != nil {
		return &setting.Error{Key: "net", Reason: err}
	}
	if err := c.Validation.Validate(); err != nil {
		return &setting.Error{Key: "validation", Reason: fmt.Errorf("caption train: %w", err)}
	}
	return nil
}

// Validate reports the first setting that is out of range, as a *setting.Error.
func (s *Search) Validate() error {
	if err := setting.Check("validation.", s); err != nil {
		return err
	}
	if err := s.Generation().Search.Validate(s2vt.Reserved + 2); err != nil {
		return &setting.Error{Reason: err}
	}
	return nil
}

// Generation returns the settings for generating captions. The longest caption has one more word for its end.
func (s *Search) Generation() captioner.Generation {
	g := captioner.DefaultGeneration()
	g.Batch = s.Batch
	g.Search.Width, g.Search.MaxLength, g.Search.LengthPenalty = s.Beam, s.MaxLength+1, s.LengthPenalty
	return g
}

// Model returns the net for clips of at most frames frames with width features each, and for a number of word
// ids.
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

// ClipFiles names features of clips and reference captions.
type ClipFiles struct {
	Features string `yaml:"features" help:"read features from this <file> of nmn extract; a row for each frame or clip"`
	Array    string `yaml:"array,omitempty" help:"<name> of the array in .npz and .safetensors files; empty if it is the only one"`
	Clips    string `yaml:"clips" help:"read the rows of each clip from this <file> of nmn extract"`
	IDs      string `yaml:"ids" help:"<file> of identifiers, a line for each row, if each row is a clip"`
	PerRow   int    `yaml:"frames_per_row" help:"<frames> in a row, if each row is a clip"`
	Captions string `yaml:"captions" help:"read captions from this <file>; MSR-VTT annotations (zip too), COCO captions, lists, JSON lines or CSV"`
	Split    string `yaml:"split" help:"MSR-VTT: use the captions of this <split>"`
}

// Open opens the features. Close the file.
func (f *ClipFiles) Open(ctx context.Context) (*captioner.FrameFile, error) {
	o := captioner.FrameFiles{Features: f.Features, Array: f.Array, Clips: f.Clips, PerRow: f.PerRow}
	if f.IDs != "" {
		var err error
		if o.IDs, err = loader.ReadIDs(ctx, f.IDs); err != nil {
			return nil, err
		}
	}
	return captioner.OpenFrames(ctx, o)
}

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
