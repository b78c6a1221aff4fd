package measure

import (
	"cmp"

	"nmn/kernels"
	"nmn/model"
	"nmn/run"
)

// Net is a classifier that is measured, with the batches that it gets.
type Net struct {
	Arch    run.NetName
	Batch   int     // bags of a step
	Frames  int     // pictures of a bag; 0 for 1
	Size    int     // height and width of the input in pixels; 0 for that of the network
	Width   float64 // factor on the channels of all hidden layers
	Classes int     // 0 for 36 of scenes, 1000 of the others
	MIL     bool    // with instances
	Noise   bool    // with a noise model, a feature-dependent one
}

// Model is the configuration of the network.
func (n Net) Model() model.Config {
	classes := cmp.Or(n.Classes, 1000)
	if n.Classes == 0 && n.Arch == run.NetScenes {
		classes = 36
	}
	noise := model.NoNoise
	if n.Noise {
		noise = model.FeatureDependent
	}
	c := run.NetConfig{Arch: n.Arch, MIL: n.MIL, Width: n.Width, InputSize: n.Size, Dropout: -1, NoisePool: "mean"}
	return c.Model(classes, 0, noise)
}

// bagFrames is the number of pictures of a bag, and pictures the number of a step.
func (n Net) bagFrames() int { return max(n.Frames, 1) }
func (n Net) pictures() int  { return n.Batch * n.bagFrames() }

// NetFigures describe the measured net.
type NetFigures struct {
	Model  string  `json:"model"`
	Size   int     `json:"size"`
	Width  float64 `json:"width"`
	Batch  int     `json:"batch"`  // bags
	Frames int     `json:"frames"` // pictures of a bag
	MIL    bool    `json:"mil"`
	NMN    bool    `json:"nmn"`
	Setting
}

func (n Net) figures(backend kernels.Backend, o Options) NetFigures {
	c := n.Model()
	return NetFigures{Model: string(n.Arch), Size: c.Size, Width: n.Width, Batch: n.Batch, Frames: n.bagFrames(),
		MIL: c.MIL, NMN: c.Noise != model.NoNoise, Setting: settingOf(backend, o)}
}
