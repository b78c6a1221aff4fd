package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"nmn/captioner/session"
	"nmn/experiment"
	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
)

// Size is the amount of generated data and training without the paper's data.
type Size string

// The sizes.
const (
	Smoke Size = "smoke" // seconds: whether everything runs, with figures that mean nothing
	Quick Size = "quick" // within half an hour on two cores
	Full  Size = "full"  // a night
)

// Sizes lists all sizes.
func Sizes() []Size { return []Size{Quick, Full, Smoke} }

// Part is a table or a figure of the paper, or an addition to them.
type Part string

// The parts, in the order of the page.
const (
	Table1   Part = "table1"
	Table2   Part = "table2"
	Table3   Part = "table3"
	Table4   Part = "table4"
	Figure3  Part = "figure3"
	Figure4  Part = "figure4"
	Observed Part = "observed" // the prediction of the observed labels, in the text of the paper
	EM       Part = "em"       // the appendix
	Beyond   Part = "beyond"   // estimated rates and captions as witnesses, which the paper does not have
)

// Parts lists all parts.
func Parts() (all []Part) {
	for _, p := range partPlans() {
		all = append(all, p.name)
	}
	return all
}

// Settings choose what to reproduce.
type Settings struct {
	Size  Size     `json:"size"`
	Only  []Part   `json:"-"` // nil for all
	Seeds []uint64 `json:"seeds"`
	// EstimatedStart starts noise models at mean rates that are estimated from the labels of each run. Otherwise they
	// start at given rates, on generated data near the mean rates at 40 % replaced captions.
	EstimatedStart bool `json:"estimated_start,omitempty"`
	// COCO and MSRVTT are folders of the paper's data, and Init a file of weights of VGG16 that nets start from. Without
	// either folder everything is made in miniature.
	COCO   string `json:"coco,omitempty"`
	MSRVTT string `json:"msrvtt,omitempty"`
	Init   string `json:"init,omitempty"`
	Dir    string `json:"-"`
	// Run are the resources of nets and captioners. Except for the precision of the device, they do not
	// change the results.
	Run run.Resources `json:"-"`
}

// Defaults are the settings of a quick reproduction in a folder.
func Defaults(dir string) Settings {
	return Settings{Size: Quick, Seeds: []uint64{1, 2, 3}, Dir: dir, Run: run.BaseConfig().Run}
}

// real reports whether the data are the paper's.
func (s *Settings) real() bool { return s.COCO != "" || s.MSRVTT != "" }

// Validate reports the first setting that is out of range, or does not go with others, as a *setting.Error.
func (s *Settings) Validate() error {
	if !slices.Contains(Sizes(), s.Size) {
		return setting.Errorf("size", "reproduce: `reproduce.size` is %q, want %s", s.Size, setting.Alternatives(Sizes()))
	}
	for _, p := range s.Only {
		if !slices.Contains(Parts(), p) {
			return setting.Errorf("only", "reproduce: `reproduce.only` names %q, want %s", p, setting.Alternatives(Parts()))
		}
	}
	if len(s.Seeds) == 0 {
		return setting.Errorf("seeds", "reproduce: give at least one of `reproduce.seeds`, and three for verdicts")
	}
	if err := experiment.CheckSeeds("seeds", "reproduce", s.Seeds); err != nil {
		return err
	}
	if s.Dir == "" {
		return setting.Errorf("run_dir", "reproduce: `run_dir` is empty: name a folder")
	}
	if s.Init != "" && !s.real() {
		return setting.Errorf("init", "reproduce: `reproduce.init` is for the nets of the paper's protocol: give "+
			"`reproduce.coco` or `reproduce.msrvtt` too; the small nets of scenes start by chance")
	}
	for _, of := range []struct{ field, path string }{{"coco", s.COCO}, {"msrvtt", s.MSRVTT}} {
		if err := isFolder(of.field, of.path); err != nil {
			return err
		}
	}
	if s.Init == "" {
		return nil
	}
	if info, err := os.Stat(s.Init); err != nil || info.IsDir() {
		return setting.Errorf("init", "reproduce: `reproduce.init`: %s is no file of weights that can be read (%w)", s.Init,
			orDirectory(err))
	}
	return nil
}

func orDirectory(err error) error {
	if err == nil {
		return errors.New("it is a folder")
	}
	return err
}

// isFolder refuses a folder that was named and is not there.
func isFolder(field, path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return setting.Errorf(field, "reproduce: `reproduce.%s`: there is no folder %s", field, path)
	case err != nil:
		return &setting.Error{Key: field, Reason: fmt.Errorf("reproduce: `reproduce.%s`: %w", field, err)}
	case !info.IsDir():
		return setting.Errorf(field, "reproduce: `reproduce.%s`: %s is a file: name the folder that the data set was "+
			"unpacked in", field, path)
	}
	return nil
}

func (s *Settings) pictures() run.Config {
	c := s.generated(run.ScenesPreset)
	if s.Size == Smoke {
		c.Data.TrainSize, c.Data.TestSize = 48, 16
	}
	return s.with(c)
}

// clips is the configuration of the nets on moving scenes, without replaced captions, as the paper's Table 3 has it.
func (s *Settings) clips() run.Config {
	c := s.generated(run.MovingScenesPreset)
	if s.Size == Smoke {
		c.Data.TrainSize, c.Data.TestSize, c.Data.Frames = 12, 8, 3
	}
	return s.with(c)
}

// generated is a preset of generated data in the size of the reproduction.
func (s *Settings) generated(name run.PresetName) run.Config {
	size := run.Quick
	if s.Size == Full {
		size = run.Full
	}
	c := preset(name, size)
	c.Data.ValidationSize = 0 // nothing is chosen on the way: the net of a run is that of its last step
	if s.Size == Smoke {
		smoke(&c)
	}
	return c
}

func preset(name run.PresetName, size run.Size) run.Config {
	c, _ := run.Preset(name, size)
	return c
}

// smoke makes a net as small, and a training as short, as they can be.
func smoke(c *run.Config) {
	c.Net.Width, c.Train.Stage1Epochs, c.Train.Stage2Epochs = .5, 1, 1
}

// form is the form of noise models that learn: the paper's, or started at the estimate.
func (s *Settings) form() recipe.Config {
	if s.EstimatedStart {
		return recipe.Config{Form: recipe.Estimate, Start: true}
	}
	return recipe.Config{Form: recipe.Paper}
}

// with lays what all configurations share over one: the form of the noise model, and the resources.
func (s *Settings) with(c run.Config) run.Config {
	c.Recipe, c.Run = s.form(), s.Run
	c.Net.Weights = s.Init
	return c
}

// captioners is the configuration of the captioners on moving scenes.
func (s *Settings) captioners() session.Config {
	c, _ := session.FromPreset(session.MovingScenes) // it is there
	if s.real() {
		c, _ = session.FromPreset(session.Paper)
	}
	if s.Size == Smoke {
		c.Net.Hidden, c.Train.Epochs = 12, 1
	}
	c.Device, c.Threads = s.Run.Device, s.Run.Threads
	return c
}
