package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// watcher follows a training that is measured.
type watcher struct {
	begin func(*model.Net) error     // before the first step; may be nil
	step  func(train.StepDone) error // after each
	// end comes after the last step, while net and trainer hold what training needs. The net's plan has
	// the last batch. It may be nil.
	end func(*model.Net, *train.Trainer) error
}

// train trains a fresh net for the warm-up and the measured steps, on random pictures.
func (o Options) train(ctx context.Context, backend kernels.Backend, n Net, w watcher) (err error) {
	net, err := n.fresh(backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	config := train.Paper()
	config.BatchSize, config.BatchSizeMIL = n.Batch, n.Batch
	config.Stage2Epochs, config.MaxSteps = 0, o.Warmup+o.Repeats
	config.EvaluateEpochs, config.CheckpointEpochs = 0, 0
	config.LearningRate = 1e-12 // so small that the weights stay what they are
	config.LearningRates = train.ClassifierRates(net.Config().Classifier())
	set, err := randomSet(net.Config(), n.Batch*min(o.Warmup+o.Repeats, epochSteps), n.bagFrames())
	if err != nil {
		return err
	}
	loading := loader.DefaultConfig()
	loading.Fit = picture.FitNone
	var failed error
	trainer, err := train.New(train.Options{
		Config: config, Stage: 2, Net: net, Data: set, Loader: loading, Group: o.Group,
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if failed = w.step(e); failed != nil {
				stop()
			}
		}}},
	})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if w.begin != nil {
		if err := w.begin(net); err != nil {
			return err
		}
	}
	_, err = trainer.Run(ctx)
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, train.ErrInterrupted):
		return run.Interrupted(err)
	case err == nil && w.end != nil:
		return w.end(net, trainer)
	}
	return err
}

func (n Net) fresh(backend kernels.Backend) (*model.Net, error) {
	net, err := model.New(n.Model(), backend)
	if err != nil {
		return nil, err
	}
	if err := net.Init(model.PaperInit(1)); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return net, nil
}

// epochSteps is the number of batches of random pictures. The first step of an epoch waits for its
// pictures, the others have theirs uploaded before.
const epochSteps = 64

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

// randomSet has bags of frames of pictures without any meaning, with one label in fifty.
func randomSet(c model.Config, bags, frames int) (*loader.Set, error) {
	words := make([]text.Word, c.Classes)
	for k := range words {
		words[k].Text = fmt.Sprint("class", k)
	}
	vocabulary, err := text.NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	stream := rng.New(1)
	labels := make([]uint8, bags*c.Classes)
	for i := range labels {
		if stream.Uniform(0, 1) < .02 {
			labels[i] = 1
		}
	}
	ids := make([]string, bags)
	for i := range ids {
		ids[i] = fmt.Sprint("bag", i)
	}
	return &loader.Set{
		Name: "random", Vocabulary: vocabulary, IDs: ids, Source: newRandomPictures(c.Size, frames),
		Labels: dense.New(dense.WithShape(bags, c.Classes), dense.WithBacking(labels)),
	}, nil
}

// randomPictures is a source that costs next to nothing: all pictures are parts of the same noise.
type randomPictures struct {
	size, frames int
	noise        []uint8 // somewhat longer than a picture
}

func newRandomPictures(size, frames int) *randomPictures {
	const more = 4096
	s := &randomPictures{size: size, frames: frames, noise: make([]uint8, size*size*3+more)}
	stream := rng.New(2)
	for i := range s.noise {
		s.noise[i] = uint8(stream.Uint32())
	}
	return s
}

// Frames implements loader.Source.
func (s *randomPictures) Frames(int) int { return s.frames }

// Read implements loader.Source.
func (s *randomPictures) Read(_ context.Context, bag, frame int, pic *picture.Picture) error {
	bytes := s.size * s.size * 3
	from := (bag*s.frames + frame) * 61 % (len(s.noise) - bytes)
	pic.Width, pic.Height = s.size, s.size
	pic.Pix = append(pic.Pix[:0], s.noise[from:from+bytes]...)
	return nil
}
