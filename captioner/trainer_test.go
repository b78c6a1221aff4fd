package captioner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/tools/conform"
	"nmn/train"
)

// reel is a source of clips that show a number by turns of two features, for as many frames as it says, and
// have two captions each that name it.
type reel struct {
	words  *Words
	clips  int
	broken map[int]float32 // what the first feature of a clip is instead
}

func newReel(t testing.TB) *reel {
	t.Helper()
	words, err := NewWords([]string{"a", "one", "two", "three", "four", "is", "shown", "now"}, nil)
	expect.OK(t, err)
	return &reel{words: words, clips: 10}
}

func (r *reel) Clips() int            { return r.clips }
func (r *reel) ID(clip int) string    { return fmt.Sprintf("clip%d", clip) }
func (r *reel) Frames() int           { return 4 }
func (r *reel) FrameCount(c int) int  { return 2 + c%3 }
func (r *reel) Width() int            { return 5 }
func (r *reel) number(clip int) int32 { return int32(clip % 4) }

func (r *reel) Features(clip int, dst []float32) error {
	clear(dst)
	for frame := range r.FrameCount(clip) {
		dst[frame*5+int(r.number(clip))] = 1
		dst[frame*5+4] = float32(frame%2) - .5
	}
	if v, ok := r.broken[clip]; ok {
		dst[0] = v
	}
	return nil
}

func (r *reel) Captions(clip int) [][]int32 {
	number := 5 + r.number(clip)
	return [][]int32{{4, number}, {4, number, 9, 10, 11}}[:1+clip%2]
}

// rig is a small training.
type rig struct {
	threads   int
	config    Config
	dropout   float64
	directory string
	observers []Observer
	validate  func(context.Context, *s2vt.Net) (metrics.Scores, error)
	source    func(*reel) Source // nil for the reel itself
	device    func(testing.TB) kernels.Backend
	words     []string // nil for the words of the reel
}

func newRig() rig {
	c := DefaultConfig()
	c.Batch, c.Epochs, c.LearningRate, c.ValidateEpochs, c.CheckpointSteps, c.Patience = 4, 3, .01, 0, 0, 0
	c.CheckpointMinutes = 0
	return rig{threads: 2, config: c}
}

func (r rig) options(t testing.TB) Options {
	t.Helper()
	data := newReel(t)
	backend := conform.OpenDevice
	if r.device != nil {
		backend = func(t testing.TB, _ int) kernels.Backend { return r.device(t) }
	}
	net, err := s2vt.New(s2vt.Config{Frames: 4, Features: 5, Vocabulary: data.words.Len(), Embedding: 8, Words: 6,
		Hidden: 20, Dropout: r.dropout}, backend(t, r.threads))
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, net.Close()) })
	expect.OK(t, net.Init(r.config.Seed))
	o := Options{Config: r.config, Net: net, Data: data, Words: data.words, Validate: r.validate,
		Directory: r.directory, Observers: r.observers}
	if r.source != nil {
		o.Data = r.source(data)
	}
	if r.words != nil {
		var err error
		o.Words, err = NewWords(r.words, nil)
		expect.OK(t, err)
	}
	return o
}

func (r rig) trainer(t testing.TB) *Trainer {
	t.Helper()
	return newTrainer(t, r.options(t))
}

// fakeCIDEr is a score that goes up and down while a net learns, and depends on nothing but the net.
func fakeCIDEr(_ context.Context, n *s2vt.Net) (metrics.Scores, error) {
	values, err := n.Params()[0].Values(n.Backend())
	if err != nil {
		return metrics.Scores{}, err
	}
	return metrics.Scores{CIDErD: math.Sin(1e3 * float64(values[0]))}, nil
}

func run(t testing.TB, trainer *Trainer) {
	t.Helper()
	expect.OK(t, trainer.Run(t.Context()))
}

// weights are all parameters of a net.
func weights(t testing.TB, n *s2vt.Net) (all []float32) {
	t.Helper()
	for _, p := range n.Params() {
		values, err := p.Values(n.Backend())
		expect.OK(t, err)
		all = append(all, values...)
	}
	return all
}

func TestTrainer_LearnsToCaption(t *testing.T) {
	for _, optimizer := range []string{train.Adam, train.AdamW, train.SGD} {
		r := newRig()
		r.config.Optimizer, r.config.Epochs, r.config.Schedule = optimizer, 120, train.Cosine
		if optimizer == train.SGD {
			r.config.LearningRate, r.config.Schedule, r.config.StepEvery = .2, train.StepDown, 200
		}
		var first, last float64
		r.observers = []Observer{{Epoch: func(e EpochDone) {
			if e.Epoch == 1 {
				first = e.Loss
			}
			last = e.Loss
			if e.Captions != 15 || e.Words != 10*3+5*6 {
				t.Errorf("epoch %d of %d captions with %d words, want 15 with 60", e.Epoch, e.Captions, e.Words)
			}
		}}}
		trainer := r.trainer(t)
		run(t, trainer)
		if trainer.Position().Step != 120*4 || trainer.Steps() != 120*4 || !(last < first/3) {
			t.Errorf("%s: loss %.3f and %.3f after %d steps of %d", optimizer, first, last, trainer.Position().Step,
				trainer.Steps())
		}
		data := newReel(t)
		for clip := range data.Clips() {
			features := make([]float32, data.Frames()*data.Width())
			expect.OK(t, data.Features(clip, features))
			captions, err := trainer.Net.Beam([][]float32{features[:data.FrameCount(clip)*data.Width()]},
				s2vt.BeamOptions{Width: 1, MaxLength: 8})
			expect.OK(t, err)
			generated := data.words.Caption(captions[0].Words)
			if want := "a " + data.words.words[5+data.number(clip)]; !strings.HasPrefix(generated, want) {
				t.Errorf("%s: clip %d is %q, want %q", optimizer, clip, generated, want)
			}
		}
	}
}

// With plain SGD and a limit of the norm the parameters move by rate·limit, from the first step on.
func TestTrainer_ClipsFromTheFirstStep(t *testing.T) {
	r := newRig()
	r.config.Optimizer, r.config.Momentum, r.config.LearningRate, r.config.ClipNorm = train.SGD, 0, .5, .01
	var before, after []float32
	trainer := r.trainer(t)
	trainer.Observers = []Observer{{Step: func(s StepDone) {
		after = weights(t, trainer.Net)
		squares := 0.0
		for i, v := range after {
			squares += math.Pow(float64(v-before[i]), 2)
		}
		if moved := math.Sqrt(squares); !(s.GradNorm > .01) || !(math.Abs(moved-.005) < 1e-4) {
			t.Errorf("step %d moves the parameters by %v at a gradient of %v, want .005", s.Step, moved, s.GradNorm)
		}
		before = after
	}}}
	before = weights(t, trainer.Net)
	run(t, trainer)
}

// interrupt runs to a step and leaves a checkpoint.
func (r rig) interrupt(t testing.TB, step int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.observers = append(slices.Clone(r.observers), Observer{Step: func(s StepDone) {
		if s.Step == step {
			cancel()
		}
	}})
	expect.Refusal(t, r.trainer(t).Run(ctx), "", train.ErrInterrupted, context.Canceled)
}

// resumed is a trainer that continues from the last checkpoint of the rig.
func (r rig) resumed(t testing.TB) *Trainer {
	t.Helper()
	trainer := r.trainer(t)
	expect.OK(t, trainer.Resume(filepath.Join(r.directory, train.LastName)))
	return trainer
}

func TestResume_EqualsUnbrokenRunBitForBit(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rig){
		"adam, dropout": func(r *rig) { r.dropout = .4 },
		"sgd, decay, warm-up, clipping": func(r *rig) {
			r.config.Optimizer, r.config.WeightDecay, r.config.WarmupSteps, r.config.ClipNorm = train.SGD, 1e-3, 4, .5
		},
		"cosine": func(r *rig) { r.config.Schedule = train.Cosine },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			change(&r)
			var losses []float64
			r.observers = []Observer{{Step: func(s StepDone) { losses = append(losses, s.Loss) }}}
			unbroken := r.trainer(t)
			run(t, unbroken)
			want, wantLosses := weights(t, unbroken.Net), losses
			for _, at := range []int{1, 4, 7} { // within an epoch and at the end of one
				losses = nil
				broken := r
				broken.threads, broken.directory = 1, t.TempDir()
				broken.interrupt(t, at)
				resumed := broken.resumed(t)
				if resumed.Position().Step != at {
					t.Errorf("resumed at step %d, interrupted at %d", resumed.Position().Step, at)
				}
				run(t, resumed)
				if !slices.Equal(losses, wantLosses) {
					t.Errorf("losses %v with a break at step %d, unbroken %v", losses, at, wantLosses)
				}
				if !slices.Equal(weights(t, resumed.Net), want) {
					t.Errorf("weights differ after a break at step %d", at)
				}
			}
		})
	}
}

func TestTrainer_PatienceStopsAndTheBestStays(t *testing.T) {
	r := newRig()
	scores := []float64{.2, .5, .4, .5, .3, .9}
	r.directory, r.config.Epochs, r.config.ValidateEpochs, r.config.Patience = t.TempDir(), 10, 1, 3
	asked := 0
	r.validate = func(context.Context, *s2vt.Net) (metrics.Scores, error) {
		asked++
		return metrics.Scores{CIDErD: scores[asked-1]}, nil
	}
	var events []Evaluated
	var saved []train.Saved
	r.observers = []Observer{{Evaluated: func(v Evaluated) { events = append(events, v) }, Saved: func(s train.Saved) {
		saved = append(saved, s)
	}}}
	trainer := r.trainer(t)
	run(t, trainer)
	if asked != 5 || trainer.best() != (Best{Step: 8, Epoch: 2, CIDEr: .5}) || trainer.Position().Stale != 3 {
		t.Errorf("%d validations, %+v: want 5, the best of them after epoch 2 and three without a better one",
			asked, trainer.Position())
	}
	for i, e := range events {
		if want := i < 2; e.Best != want || e.Epoch != i+1 || e.Scores.CIDErD != scores[i] {
			t.Errorf("event %+v of validation %d", e, i+1)
		}
	}
	best := 0
	for _, s := range saved {
		if s.Best {
			best++
		}
	}
	if best != 2 || len(saved) != 5 {
		t.Errorf("%d checkpoints were saved, %d as the best: want 5 and 2", len(saved), best)
	}
	c, err := ReadCheckpoint(filepath.Join(r.directory, train.BestName))
	expect.OK(t, err)
	if c.Position.Step != 8 || c.Best.CIDEr != .5 {
		t.Errorf("best.safetensors is of step %d with %+v", c.Position.Step, c.Best)
	}
	last, err := ReadCheckpoint(filepath.Join(r.directory, train.LastName))
	expect.OK(t, err)
	if last.Position.Step != 20 {
		t.Errorf("last.safetensors is of step %d, want 20", last.Position.Step)
	}
}

// An interruption within validation leads to the same validation again.
func TestTrainer_InterruptedValidationIsMadeAgain(t *testing.T) {
	r := newRig()
	r.directory, r.config.ValidateEpochs = t.TempDir(), 1
	ctx, cancel := context.WithCancel(t.Context())
	r.validate = func(ctx context.Context, _ *s2vt.Net) (metrics.Scores, error) {
		cancel()
		return metrics.Scores{}, ctx.Err()
	}
	expect.Refusal(t, r.trainer(t).Run(ctx), "", train.ErrInterrupted)
	var steps []int
	r.observers = []Observer{{Evaluated: func(v Evaluated) { steps = append(steps, v.Step) }}}
	r.validate = func(context.Context, *s2vt.Net) (metrics.Scores, error) { return metrics.Scores{CIDErD: 1}, nil }
	run(t, r.resumed(t))
	if !slices.Equal(steps, []int{4, 8, 12}) {
		t.Errorf("validated after steps %v", steps)
	}
}

func TestTrainer_StopsBeforeWhatIsNotFinite(t *testing.T) {
	for name, value := range map[string]float32{"infinite": float32(math.Inf(1)), "no number": float32(math.NaN())} {
		r := newRig()
		r.directory = t.TempDir()
		r.source = func(s *reel) Source {
			s.broken = map[int]float32{3: value}
			return s
		}
		var before []float32
		trainer := r.trainer(t)
		trainer.Observers = []Observer{{Step: func(StepDone) { before = weights(t, trainer.Net) }}}
		before = weights(t, trainer.Net)
		err := trainer.Run(t.Context())
		broken := (*train.NonFiniteError)(nil)
		if !errors.As(err, &broken) || !slices.Contains(broken.IDs, "clip3") ||
			broken.Step != trainer.Position().Step+1 {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(weights(t, trainer.Net), before) {
			t.Errorf("%s: the step has changed the net", name)
		}
	}
}

func TestTrainer_ErrorsOfValidationAndFeaturesAreReported(t *testing.T) {
	r := newRig()
	r.config.ValidateEpochs = 1
	cause := errors.New("no references")
	r.validate = func(context.Context, *s2vt.Net) (metrics.Scores, error) { return metrics.Scores{}, cause }
	expect.Refusal(t, r.trainer(t).Run(t.Context()), "step 4", cause)
	r.validate = func(context.Context, *s2vt.Net) (metrics.Scores, error) {
		return metrics.Scores{CIDErD: math.NaN()}, nil
	}
	if err := r.trainer(t).Run(t.Context()); err == nil {
		t.Error("validation without a number: accepted")
	}
	r.source = func(s *reel) Source { return unreadable{s, cause} }
	expect.Refusal(t, r.trainer(t).Run(t.Context()), "clip", cause)
}

func TestTrainer_ACheckpointThatCannotBeWrittenEndsIt(t *testing.T) {
	r := newRig()
	r.directory, r.config.CheckpointSteps = filepath.Join(t.TempDir(), "run"), 2
	r.observers = []Observer{{Step: func(s StepDone) {
		if s.Step == 1 {
			expect.OK(t, os.Remove(r.directory))
		}
	}}}
	trainer := r.trainer(t)
	expect.Refusal(t, trainer.Run(t.Context()), r.directory, fs.ErrNotExist)
	if step := trainer.Position().Step; step != 2 {
		t.Errorf("it ends at step %d", step)
	}
}

type unreadable struct {
	*reel
	cause error
}

func (u unreadable) Features(int, []float32) error { return u.cause }

// other is a reel that says something else of itself.
type other struct {
	*reel
	frames, width, count int
	captions             [][]int32
}

func (o other) Frames() int             { return o.frames }
func (o other) Width() int              { return o.width }
func (o other) FrameCount(clip int) int { return o.count }
func (o other) Captions(int) [][]int32  { return o.captions }

func TestNew_RefusesWhatDoesNotFit(t *testing.T) {
	good := [][]int32{{4, 5}}
	for want, source := range map[string]other{
		"features of a frame are 6, the net takes 5": {frames: 4, width: 6, count: 4, captions: good},
		"clips have up to 9 frames, the net takes 4": {frames: 9, width: 5, count: 4, captions: good},
		`clip "clip0" has 0 frames`:                  {frames: 4, width: 5, captions: good},
		`clip "clip0" has 5 frames`:                  {frames: 4, width: 5, count: 5, captions: good},
		`caption 2 of clip "clip0" has no words`:     {frames: 4, width: 5, count: 4, captions: [][]int32{{4}, {}}},
		`has word 12, want 3 to 11`:                  {frames: 4, width: 5, count: 4, captions: [][]int32{{12}}},
		`has word 2, want 3 to 11`:                   {frames: 4, width: 5, count: 4, captions: [][]int32{{2}}},
		"none of 10 clips has a caption":             {frames: 4, width: 5, count: 4},
	} {
		r := newRig()
		r.source = func(s *reel) Source {
			source.reel = s
			return source
		}
		expect.Refusal(t, expect.ErrorOf(New(r.options(t))), want)
	}
	for want, change := range map[string]func(*Options){
		"a net, a source":            func(o *Options) { o.Words = nil },
		"the vocabulary has 5 words": func(o *Options) { o.Words, _ = NewWords([]string{"a"}, nil) },
		"nothing to validate on":     func(o *Options) { o.Config.ValidateEpochs, o.Config.Patience = 1, 2 },
		"batch is 0":                 func(o *Options) { o.Config.Batch = 0 },
		"both 0":                     func(o *Options) { o.Config.Epochs = 0 },
		"patience counts":            func(o *Options) { o.Config.Patience = 2 },
		"learning_rate is -1":        func(o *Options) { o.Config.LearningRate = -1 },
		"optimizer is \"lion\"":      func(o *Options) { o.Config.Optimizer = "lion" },
	} {
		o := newRig().options(t)
		change(&o)
		expect.Refusal(t, expect.ErrorOf(New(o)), want)
	}
}

func TestStep_AllocatesNothingForShapesItHasSeen(t *testing.T) {
	if os.Getenv(conform.DeviceEnv) != "" {
		t.Skip("counts the allocations of the host's operations")
	}
	r := newRig()
	r.dropout, r.config.Epochs = .3, 100
	trainer := r.trainer(t)
	for range 2 * trainer.Batches() {
		expect.OK(t, trainer.step())
		trainer.at.Batch %= trainer.Batches()
	}
	if n := testing.AllocsPerRun(4*trainer.Batches(), func() {
		expect.OK(t, trainer.step())
		trainer.at.Batch %= trainer.Batches()
	}); n > 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// tooSmall is a learning rate that moves no weight: what then differs from epoch to epoch is not what was learned.
const tooSmall = 1e-30

// losses trains and gives the mean loss of a caption of each epoch.
func losses(t *testing.T, r rig) (all []float64) {
	t.Helper()
	r.observers = append(r.observers, Observer{Epoch: func(e EpochDone) { all = append(all, e.Loss) }})
	run(t, r.trainer(t))
	return all
}

func TestTrainer_DropoutDrawsOtherMasksInEveryEpoch(t *testing.T) {
	r := newRig()
	r.config.LearningRate, r.config.Epochs = tooSmall, 3
	alike := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }
	if plain := losses(t, r); !alike(plain[0], plain[1]) || !alike(plain[1], plain[2]) {
		t.Fatalf("without dropout the losses of epochs are %v, want them alike: no weight moves", plain)
	}
	r.dropout = .5
	if dropped := losses(t, r); alike(dropped[0], dropped[1]) || alike(dropped[1], dropped[2]) ||
		alike(dropped[0], dropped[2]) {
		t.Errorf("with dropout the losses of epochs are %v: the masks of an epoch come again", dropped)
	}
}

// The captions that stand together in a batch change from epoch to epoch, and none comes twice in one.
func TestTrainer_CaptionsComeInAnotherOrderInEveryEpoch(t *testing.T) {
	r := newRig()
	trainer := r.trainer(t)
	epochs := make([][]int, r.config.Epochs)
	trainer.Observers = []Observer{{Step: func(s StepDone) {
		epochs[s.Epoch-1] = append(epochs[s.Epoch-1], trainer.batch.Samples...)
	}}}
	run(t, trainer)
	for epoch, samples := range epochs {
		if epoch > 0 && slices.Equal(samples, epochs[epoch-1]) {
			t.Errorf("epoch %d has the captions in the order of the one before", epoch+1)
		}
		if all := slices.Sorted(slices.Values(samples)); !slices.Equal(all, slices.Compact(slices.Clone(all))) ||
			len(all) != len(trainer.pairs) {
			t.Errorf("epoch %d has the captions %v", epoch+1, samples)
		}
	}
}

// A batch holds the frames that a clip has, not the room that the longest clip takes.
func TestTrainer_ClipsHaveTheirOwnNumberOfFrames(t *testing.T) {
	trainer, data := newRig().trainer(t), newReel(t)
	trainer.Observers = []Observer{{Step: func(s StepDone) {
		for i, sample := range trainer.batch.Samples {
			clip := trainer.pairs[sample].clip
			want := make([]float32, data.Frames()*data.Width())
			expect.OK(t, data.Features(clip, want))
			if got := trainer.batch.Features[i]; !slices.Equal(got, want[:data.FrameCount(clip)*data.Width()]) {
				t.Errorf("step %d: the features of clip %d are %v, want its %d frames", s.Step, clip, got,
					data.FrameCount(clip))
			}
		}
	}}}
	run(t, trainer)
}

// Weight decay shrinks weights. Biases, which begin with 1 where cells are to remember, are left alone.
func TestTrainer_WeightDecaySparesBiases(t *testing.T) {
	r := newRig()
	r.config.Optimizer, r.config.Momentum, r.config.ClipNorm = train.SGD, 0, 0
	r.config.Epochs, r.config.MaxSteps = 0, 1
	oneStep := func(decay float64) *Trainer {
		r.config.WeightDecay = decay
		trainer := r.trainer(t)
		run(t, trainer)
		return trainer
	}
	plain, decayed := oneStep(0), oneStep(.1)
	for i, p := range plain.Net.Params() {
		before, err := p.Values(plain.Net.Backend())
		expect.OK(t, err)
		after, err := decayed.Net.Params()[i].Values(decayed.Net.Backend())
		expect.OK(t, err)
		if same := slices.Equal(before, after); same != p.Bias {
			t.Errorf("%s with and without decay: alike %t, want %t", p.Name, same, p.Bias)
		}
	}
}

// The first step has the first rate of the schedule.
func TestTrainer_RatesFollowTheSchedule(t *testing.T) {
	r := newRig()
	r.config.LearningRate, r.config.WarmupSteps, r.config.Epochs, r.config.MaxSteps = .04, 4, 0, 6
	r.config.Schedule, r.config.StepEvery, r.config.StepFactor = train.StepDown, 5, .5
	var rates []float64
	r.observers = []Observer{{Step: func(s StepDone) { rates = append(rates, s.LearningRate) }}}
	run(t, r.trainer(t))
	want := []float64{.01, .02, .03, .04, .04, .02} // four steps of warm-up, and half of the rate after five
	for i := range want {
		if len(rates) != len(want) || math.Abs(rates[i]-want[i]) > 1e-12 {
			t.Fatalf("rates %v, want %v", rates, want)
		}
	}
}

// mixed are pairs with captions of 1 to 20 words.
func mixed(count int) []pair {
	all := make([]pair, count)
	for i := range all {
		all[i].words = make([]int32, 1+i*7%20)
	}
	return all
}

func TestOrder_EachPairOnceInBatchesOfLikeLengths(t *testing.T) {
	all := mixed(1003)
	o := newOrder(all, 8, 5, 1)
	seen, steps, words := make([]int, len(all)), 0, 0
	var longest []int
	for batch := range o.count() {
		most := 0
		for _, i := range o.at(batch) {
			seen[i]++
			most = max(most, len(all[i].words))
			words += len(all[i].words)
		}
		steps += most * len(o.at(batch))
		longest = append(longest, most)
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("pair %d comes %d times", i, n)
		}
	}
	if steps > words*11/10 {
		t.Errorf("%d steps for %d words: captions of like lengths are to be together", steps, words)
	}
	if slices.IsSorted(longest[:32]) {
		t.Error("batches come by length")
	}
}

// Both draws of an order are new in every epoch: which pairs stand together, and the order of the batches.
func TestOrder_EveryEpochDrawsPairsAndBatches(t *testing.T) {
	all := mixed(100)
	batches := func(o order) (places []int) {
		for batch := range o.count() {
			places = append(places, o.batches.At(batch))
		}
		return places
	}
	for seed := range uint64(3) {
		one, two := newOrder(all, 8, seed, 1), newOrder(all, 8, seed, 2)
		again, other := newOrder(all, 8, seed, 1), newOrder(all, 8, seed+1, 1)
		if !slices.Equal(one.pairs, again.pairs) || !slices.Equal(batches(one), batches(again)) ||
			slices.Equal(one.pairs, other.pairs) {
			t.Errorf("seed %d does not decide the order", seed)
		}
		if slices.Equal(one.pairs, two.pairs) {
			t.Errorf("seed %d: the same pairs stand together in both epochs", seed)
		}
		if slices.Equal(batches(one), batches(two)) {
			t.Errorf("seed %d: the batches of both epochs come in the same order", seed)
		}
	}
}
