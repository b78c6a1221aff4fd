package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"nmn/captioning"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/model/s2vt"
	"nmn/run"
	"nmn/train"
)

// netS2VT is the captioner, which nmn caption trains: it is measured here, not configured.
const netS2VT run.NetName = "s2vt"

// captionLengths are the middles of 32 equal shares of the captions of MSR-VTT's training clips, in words
// without the end: 9.3 in the mean. bench/s2vt_torch.py has the same.
var captionLengths = []int{4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 13, 13, 14, 16, 18, 22}

// captionFigures are what nmn bench step tells of the captioner.
type captionFigures struct {
	Model      string    `json:"model"`
	Batch      int       `json:"batch"`  // captions
	Frames     int       `json:"frames"` // of a clip
	Features   int       `json:"features"`
	Vocabulary int       `json:"vocabulary"`
	Hidden     int       `json:"hidden"`
	Dropout    float64   `json:"dropout"`
	WordsSaid  int       `json:"words_said"` // of the batch, ends of captions among them
	Device     string    `json:"device"`
	Precision  string    `json:"precision"`
	Threads    int       `json:"threads"` // 0: one for each processor
	Processors int       `json:"processors"`
	Repeats    int       `json:"repeats"`
	Build      run.Build `json:"build"`

	StepMS        float64 `json:"step_ms"` // median
	StepMinMS     float64 `json:"step_min_ms"`
	StepMaxMS     float64 `json:"step_max_ms"`
	StepCPUMS     float64 `json:"step_cpu_ms,omitempty"` // mean, of all processors; 0 where the system does not tell
	CaptionsPerS  float64 `json:"captions_per_s"`
	GFLOPS        float64 `json:"gflops"` // products of the whole step, for each second
	GFLOP         float64 `json:"gflop"`
	PeakMemoryMiB float64 `json:"peak_memory_mib"`   // of the process, while training
	DeviceMiB     float64 `json:"device_memory_mib"` // likewise, of the device
}

// captioner is the net that is measured, at the paper's sizes unless told otherwise.
func (b *benchCommand) captioner() s2vt.Config {
	c := s2vt.Paper(cmp.Or(b.classes, 1087), cmp.Or(b.vocabulary, 23_647))
	c.Frames = cmp.Or(b.frames, c.Frames)
	for _, width := range []*int{&c.Embedding, &c.Words, &c.Hidden} {
		*width = max(1, int(float64(*width)*b.width+.5))
	}
	return c
}

// validateCaptioner refuses flags of nets that see pictures.
func (b *benchCommand) validateCaptioner() error {
	switch {
	case b.noMIL || b.noNMN || b.size != 0:
		return errors.New("bench: --no-mil, --no-nmn and --size are not for --model s2vt, which sees features: leave them out")
	case b.batch < 1 || b.frames < 0 || b.classes < 0 || b.vocabulary < 0:
		return errors.New("bench: --batch is at least 1, --frames, --classes and --vocab-size at least 0")
	case !(b.width > 0 && b.width <= 16):
		return fmt.Errorf("bench: --width is %g, want more than 0 and at most 16", b.width)
	}
	return b.captioner().Validate()
}

// captionStep trains a fresh captioner for the warm-up and the measured steps, on random clips.
func (b *benchCommand) captionStep(ctx context.Context, p *program, backend kernels.Backend) (err error) {
	net, err := s2vt.New(b.captioner(), backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if err := net.Init(1); err != nil {
		return err
	}
	words, err := numberedWords(net.Config().Vocabulary)
	if err != nil {
		return err
	}
	clips := newRandomClips(net.Config(), b.batch)
	config := captioning.DefaultConfig()
	config.Optimizer, config.LearningRate = train.SGD, 1e-12 // so small that the weights stay what they are
	config.Batch, config.Epochs, config.MaxSteps = b.batch, 0, b.warmup+b.repeats
	config.ValidateEpochs, config.CheckpointSteps, config.Patience = 0, 0, 0
	durations, cpu := make([]time.Duration, 0, b.repeats), processorTime()
	trainer, err := captioning.New(captioning.Options{
		Config: config, Net: net, Data: clips, Words: words,
		Observers: []captioning.Observer{{Step: func(e captioning.StepDone) {
			if e.Step > b.warmup {
				durations = append(durations, e.Duration)
			}
			if e.Step == b.warmup {
				cpu = processorTime()
			}
		}}},
	})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if _, err := trainer.Run(ctx); err != nil {
		return run.Interrupted(err)
	}
	cpu = processorTime() - cpu
	f := b.describeCaptioner(backend, clips)
	f.PeakMemoryMiB, f.DeviceMiB = mib(peakMemory()), mib(uint64(trainer.DeviceBytes()))
	f.StepCPUMS = milliseconds(cpu) / float64(b.repeats)
	f.summarize(durations)
	return f.write(p, b.asJSON)
}

func (b *benchCommand) describeCaptioner(backend kernels.Backend, clips *randomClips) captionFigures {
	c := b.captioner()
	said, longest := 0, 0
	for _, caption := range clips.captions {
		said, longest = said+len(caption)+1, max(longest, len(caption)+1)
	}
	return captionFigures{
		Model: string(b.model), Batch: b.batch, Frames: c.Frames, Features: c.Features, Vocabulary: c.Vocabulary, Hidden: c.Hidden, Dropout: c.Dropout,
		WordsSaid: said, Device: backend.Name(), Precision: string(backend.Precision()), Threads: b.run.Threads, Processors: runtime.GOMAXPROCS(0),
		Repeats: b.repeats, Build: run.ThisBuild(), GFLOP: captionFLOP(c, b.batch, longest, said) / 1e9,
	}
}

// captionFLOP counts multiplications and additions of a step, the products with the weights alone: each is
// made once forward and, but for the first layer's, twice back. Steps behind the end of a caption count, as
// they are computed; logits are of the words that are said.
func captionFLOP(c s2vt.Config, captions, longest, said int) float64 {
	n, frames, spoken := float64(captions), float64(c.Frames), float64(longest)
	e, d, h := float64(c.Embedding), float64(c.Words), float64(c.Hidden)
	once := n * frames * float64(c.Features) * e
	thrice := 4*h*n*(frames*e+2*(frames+spoken-1)*h+(frames+spoken)*h+spoken*d) + float64(said)*h*float64(c.Vocabulary)
	return 2 * (2*once + 3*thrice)
}

func (f *captionFigures) summarize(durations []time.Duration) {
	slices.Sort(durations)
	middle := median(durations)
	f.StepMS, f.StepMinMS, f.StepMaxMS = milliseconds(middle), milliseconds(durations[0]), milliseconds(durations[len(durations)-1])
	f.CaptionsPerS, f.GFLOPS = rate(float64(f.Batch), middle), rate(f.GFLOP, middle)
}

func (f *captionFigures) write(p *program, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, f)
	}
	_, err := fmt.Fprintf(p.out, "%s, %d captions of %d words in all, %d frames of %d features, %d cells, vocabulary of %d, on %s\n"+
		"step      %9.2f ms (%.2f to %.2f)\n%.1f captions/s, %.1f GFLOP/s, peak memory %.0f MiB, %.0f MiB of the device\n",
		f.Model, f.Batch, f.WordsSaid, f.Frames, f.Features, f.Hidden, f.Vocabulary, f.Device,
		f.StepMS, f.StepMinMS, f.StepMaxMS, f.CaptionsPerS, f.GFLOPS, f.PeakMemoryMiB, f.DeviceMiB)
	return err
}

// numberedWords is a vocabulary with so many ids.
func numberedWords(ids int) (*captioning.Words, error) {
	words := make([]string, max(1, ids-int(captioning.Unknown)-1))
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	return captioning.NewWords(words, nil)
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

// Clips, ID, Frames, Width, Features and Captions implement captioning.Source.
func (s *randomClips) Clips() int                  { return len(s.captions) }
func (s *randomClips) ID(clip int) string          { return fmt.Sprint("clip", clip) }
func (s *randomClips) Frames() int                 { return s.config.Frames }
func (s *randomClips) Width() int                  { return s.config.Features }
func (s *randomClips) Captions(clip int) [][]int32 { return s.captions[clip : clip+1] }

func (s *randomClips) Features(_ int, dst []float32) error {
	copy(dst, s.features)
	return nil
}
