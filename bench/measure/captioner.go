package measure

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nmn/captioner"
	"nmn/captioner/s2vt"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/run"
	"nmn/train"
)

// CaptionerName is the name of the captioner in figures.
const CaptionerName = "s2vt"

// Captioner is a captioner to measure, with its batches. Sizes of 0 stand for the sizes of the paper.
type Captioner struct {
	Batch      int // captions of a step
	Frames     int // of a clip
	Features   int // of a frame
	Vocabulary int // words that it can say
	Width      float64
}

// Model is the configuration of the network.
func (n Captioner) Model() s2vt.Config {
	c := s2vt.Paper(cmp.Or(n.Features, 1087), cmp.Or(n.Vocabulary, 23_647))
	c.Frames = cmp.Or(n.Frames, c.Frames)
	for _, width := range []*int{&c.Embedding, &c.Words, &c.Hidden} {
		*width = max(1, int(float64(*width)*n.Width+.5))
	}
	return c
}

// CaptionFigures are measurements of whole training steps of a captioner.
type CaptionFigures struct {
	Model      string  `json:"model"`
	Batch      int     `json:"batch"`  // captions
	Frames     int     `json:"frames"` // of a clip
	Features   int     `json:"features"`
	Vocabulary int     `json:"vocabulary"`
	Hidden     int     `json:"hidden"`
	Dropout    float64 `json:"dropout"`
	WordsSaid  int     `json:"words_said"` // of the batch, ends of captions among them
	Setting
	StepTimes
	CaptionsPerS float64 `json:"captions_per_s"`

	Products map[string]int `json:"products,omitempty"` // shapes that each library of a graphics card computes
}

// CaptionStep measures whole training steps of a fresh captioner, on random clips with captions as long as in MSR-VTT.
func CaptionStep(ctx context.Context, backend kernels.Backend, n Captioner, o Options) (f *CaptionFigures, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	net, err := s2vt.New(n.Model(), backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if err := net.Init(1); err != nil {
		return nil, err
	}
	words, err := numberedWords(net.Config().Vocabulary)
	if err != nil {
		return nil, err
	}
	clips := newRandomClips(net.Config(), n.Batch)
	config := captioner.DefaultConfig()
	config.Optimizer, config.LearningRate = train.SGD, 1e-12 // so small that the weights stay what they are
	config.Batch, config.Epochs, config.MaxSteps = n.Batch, 0, o.Warmup+o.Repeats
	config.ValidateEpochs, config.CheckpointSteps, config.Patience = 0, 0, 0
	durations, cpu := make([]time.Duration, 0, o.Repeats), processorTime()
	trainer, err := captioner.New(captioner.Options{
		Config: config, Net: net, Data: clips, Words: words,
		Observers: []captioner.Observer{{Step: func(e captioner.StepDone) {
			if e.Step > o.Warmup {
				durations = append(durations, e.Duration)
			}
			if e.Step == o.Warmup {
				cpu = processorTime()
			}
		}}},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if err := trainer.Run(ctx); err != nil {
		return nil, run.Interrupted(err)
	}
	cpu = processorTime() - cpu
	f = n.figures(backend, clips, o)
	f.PeakMemoryMiB, f.DeviceMiB = mebibytes(peakMemory()), mebibytes(uint64(trainer.DeviceBytes()))
	f.StepCPUMS = milliseconds(cpu) / float64(o.Repeats)
	if card, ok := backend.(kernels.Card); ok {
		f.Products = card.ProductsBy()
	}
	f.CaptionsPerS = rate(float64(f.Batch), f.summarize(durations))
	return f, nil
}

func (n Captioner) figures(backend kernels.Backend, clips *randomClips, o Options) *CaptionFigures {
	c := n.Model()
	said, longest := 0, 0
	for _, caption := range clips.captions {
		said, longest = said+len(caption)+1, max(longest, len(caption)+1)
	}
	return &CaptionFigures{
		Model: CaptionerName, Batch: n.Batch, Frames: c.Frames, Features: c.Features, Vocabulary: c.Vocabulary,
		Hidden: c.Hidden, Dropout: c.Dropout, WordsSaid: said, Setting: settingOf(backend, o),
		StepTimes: StepTimes{GFLOP: captionFLOP(c, n.Batch, longest, said) / 1e9},
	}
}

// captionFLOP counts multiplications and additions of a step, in the products with the weights alone: each is made once
// forward and, except in the first layer, twice backward. Steps after the end of a caption count, although the host
// leaves most of them out, so that rates compare with padded sequences. Logits count for generated words alone.
func captionFLOP(c s2vt.Config, captions, longest, said int) float64 {
	n, frames, spoken := float64(captions), float64(c.Frames), float64(longest)
	e, d, h := float64(c.Embedding), float64(c.Words), float64(c.Hidden)
	once := n * frames * float64(c.Features) * e
	thrice := 4*h*n*(frames*e+2*(frames+spoken-1)*h+(frames+spoken)*h+spoken*d) + float64(said)*h*float64(c.Vocabulary)
	return 2 * (2*once + 3*thrice)
}

// captionLengths are the middles of 32 equal shares of the captions of MSR-VTT's training clips, in words
// without the end: 9.3 in the mean. bench/s2vt_torch.py has the same.
var captionLengths = []int{
	4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 13, 13, 14, 16, 18, 22,
}

func numberedWords(ids int) (*captioner.Words, error) {
	words := make([]string, max(1, ids-int(captioner.Unknown)-1))
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	return captioner.NewWords(words, nil)
}

// randomClips are clips without any meaning, with a caption each.
type randomClips struct {
	config   s2vt.Config
	features []float32 // of one clip: all have the same
	captions [][]int32
}

func newRandomClips(c s2vt.Config, count int) *randomClips {
	stream, s := rng.New(1), &randomClips{config: c, features: make([]float32, c.Frames*c.Features)}
	for i := range s.features {
		s.features[i] = float32(stream.Float64())
	}
	for i := range count {
		words := make([]int32, captionLengths[i%len(captionLengths)])
		for j := range words {
			words[j] = s2vt.Reserved + int32(stream.Intn(c.Vocabulary-s2vt.Reserved))
		}
		s.captions = append(s.captions, words)
	}
	return s
}

// Clips, ID, Frames, FrameCount, Width, Features and Captions implement captioner.Source.
func (s *randomClips) Clips() int                  { return len(s.captions) }
func (s *randomClips) ID(clip int) string          { return fmt.Sprint("clip", clip) }
func (s *randomClips) Frames() int                 { return s.config.Frames }
func (s *randomClips) FrameCount(int) int          { return s.config.Frames }
func (s *randomClips) Width() int                  { return s.config.Features }
func (s *randomClips) Captions(clip int) [][]int32 { return s.captions[clip : clip+1] }

func (s *randomClips) Features(_ int, dst []float32) error {
	copy(dst, s.features)
	return nil
}
