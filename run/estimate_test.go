package run

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/ranks"
	"nmn/ranks/local/localtest"
	"nmn/recipe"
	"nmn/train"
)

// estimated are the estimates of the arms of a configuration on scenes.
func estimated(t *testing.T, ctx context.Context, c Config) (all []Measured, err error) {
	t.Helper()
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 70, 0, 1
	c.Run.Device, c.Recipe.Form, c.Arm = "cpu", recipe.Paper, recipe.FD
	s := opened(t, c, Options{})
	arms := expect.Value(c.PlannedArms())(t)
	e := NewEstimator(s)
	for _, arm := range arms {
		w, err := e.Workload(t.Context(), arm)
		expect.OK(t, err)
		m, err := e.Estimate(ctx, arm, w)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// The time of a large net is estimated without a step: it follows the net's operations, and the memory is that
// of a step.
func TestEstimate_LargeNetsAreEstimated(t *testing.T) {
	c := DefaultConfig()
	c.Net.Arch, c.Net.Width, c.Train.BatchSize, c.Train.Stage1Epochs = NetVGG16, .25, 16, 2
	all := expect.Value(estimated(t, t.Context(), c))(t)
	if len(all) != 2 {
		t.Fatalf("%d estimates, want stage 1 and the arm", len(all))
	}
	m := all[0]
	if !m.Estimated || m.Step <= 0 || m.Bags != 16 || m.Images != 16 || m.Steps != 2*5 || m.Mean != 14 || !m.Full() {
		t.Errorf("%+v, want 10 steps of 16 pictures", m)
	}
	c.Train.BatchSize = 64
	larger := expect.Value(estimated(t, t.Context(), c))(t)
	if larger[0].Memory <= m.Memory || larger[0].Steps != 2*2 {
		t.Errorf("%+v of a larger batch beside %+v", larger[0], m)
	}
}

// The estimated memory of a step is the memory that the step takes.
func TestEstimate_MemoryIsThatOfTheStep(t *testing.T) {
	c := DefaultConfig()
	c.Net.Arch, c.Net.Width, c.Train.BatchSize, c.Train.MaxSteps = NetVGG16, .125, 8, 1
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 32, 0, 1
	c.Run.Device, c.Recipe.Form, c.Arm = "cpu", recipe.Paper, recipe.Stage1
	all := expect.Value(estimated(t, t.Context(), c))(t)
	s := opened(t, c, Options{})
	arm := expect.Value(recipe.Stage1.ForTraining(false))(t)
	made := expect.Value(NewEstimator(s).timeSteps(t.Context(), arm, 1, time.Hour))(t)
	const small = 1 << 10 // the norm of the gradients, and the like
	if d := made.Memory - all[0].Memory; !all[0].Estimated || made.Estimated || d < 0 || d > small {
		t.Errorf("estimated %d bytes, taken %d", all[0].Memory, made.Memory)
	}
}

// Short steps are made: nothing is as true.
func TestEstimate_ShortStepsAreMade(t *testing.T) {
	c := expect.Value(Preset(ScenesPreset, Quick))(t)
	c.Net.Width = .5
	all := expect.Value(estimated(t, t.Context(), c))(t)
	if all[0].Estimated || all[0].Step <= 0 {
		t.Errorf("%+v", all[0])
	}
}

func TestEstimate_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := DefaultConfig()
	c.Net.Arch, c.Net.Width = NetVGG16, .25
	if all, err := estimated(t, ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", all, err)
	}
}

// A file of weights that a run would refuse is refused before any time is estimated.
func TestWorkload_RefusesWeightsOfNothing(t *testing.T) {
	c := DefaultConfig()
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Run.Device = 16, 0, 1, "cpu"
	s := opened(t, c, Options{})
	s.Config.Net.Weights = t.TempDir() + "/none.pth"
	arm := expect.Value(recipe.Stage1.ForTraining(false))(t)
	if w, err := NewEstimator(s).Workload(t.Context(), arm); err == nil || !strings.Contains(err.Error(), "none.pth") {
		t.Errorf("%v, %v", w, err)
	}
}

// done is a step of some pictures that took some time.
func done(bags int, took time.Duration) train.StepDone {
	return train.StepDone{Progress: train.Progress{Duration: took}, Bags: bags, Images: bags}
}

// 33 pictures are a batch of 32 and one of 1, which is done in no time and says nothing of the others.
func TestStopwatch_TakesTheFastestFullBatch(t *testing.T) {
	clock := time.Unix(0, 0)
	w := newStopwatch(func() time.Time { return clock }, 15*time.Second)
	for _, e := range []train.StepDone{done(32, 9*time.Second), done(1, time.Millisecond), done(32, 4*time.Second),
		done(1, time.Millisecond), done(32, 5*time.Second)} {
		if clock = clock.Add(e.Duration); w.see(e) != (clock.Sub(time.Unix(0, 0)) > 15*time.Second) {
			t.Errorf("after %v: enough is wrong", clock.Sub(time.Unix(0, 0)))
		}
	}
	if w.best != done(32, 4*time.Second) {
		t.Errorf("the step that counts has %d pictures and took %v", w.best.Bags, w.best.Duration)
	}
}

func TestMeasured_CountsWhatIsInTheSteps(t *testing.T) {
	m := Measured{Step: 3200 * time.Millisecond, Bags: 32, Images: 32, Batch: 32, Mean: 33. / 2, Steps: 10}
	if got := m.Total(); got != 16500*time.Millisecond || !m.Full() {
		t.Errorf("5 epochs of 33 pictures at 100 ms each take %v, full %v", got, m.Full())
	}
	if m = (Measured{Step: time.Second, Bags: 20, Images: 20, Batch: 32, Mean: 20, Steps: 3}); m.Full() ||
		m.Total() != 3*time.Second {
		t.Errorf("3 steps of the only 20 pictures take %v, full %v", m.Total(), m.Full())
	}
}

func TestMeasure_OfDataWithoutAFullBatch(t *testing.T) {
	c := expect.Value(Preset(ScenesPreset, Quick))(t)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = c.Train.Batch(false)-3, 0, 1
	c.Net.Width, c.Run.Device, c.Recipe.Form = .5, "cpu", recipe.Paper
	s := opened(t, c, Options{})
	arm := expect.Value(recipe.Stage1.ForTraining(false))(t)
	m := expect.Value(NewEstimator(s).Measure(t.Context(), arm))(t)
	if m.Full() || m.Bags != c.Data.TrainSize || m.Images != m.Bags || m.Mean != float64(m.Bags) {
		t.Errorf("%+v, want steps of %d pictures", m, c.Data.TrainSize)
	}
}

// counted is a rank that calls a function when it begins a certain sum.
type counted struct {
	ranks.Group
	left int
	then func()
}

// at sets the function that the nth sum from now on calls.
func (c *counted) at(n int, then func()) { c.left, c.then = n, then }

func (c *counted) Sum(x []float32, wire ranks.Wire) error {
	if c.left--; c.left == 0 {
		c.then()
	}
	return c.Group.Sum(x, wire)
}

// If one rank is interrupted while steps are timed, all ranks end with an interrupt, although the others end
// their timing early too once they have seen enough.
func TestMeasure_AnInterruptOfOneRankIsOneOfAll(t *testing.T) {
	c := DefaultConfig()
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 64, 0, 1
	c.Net.Width, c.Run.Device, c.Run.Threads, c.Recipe.Form = .5, "cpu", 1, recipe.Paper
	c.Train.Stage1Epochs = 10_000
	arm := expect.Value(recipe.Stage1.ForTraining(false))(t)
	localtest.Each(3, func(g ranks.Group) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sums := &counted{Group: g}
		s, err := Open(ctx, c, Options{Group: sums})
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close()
		if g.Rank() == 1 {
			sums.at(10, cancel)
		}
		_, err = NewEstimator(s).timeSteps(ctx, arm, 1<<30, time.Hour)
		if !errors.Is(err, context.Canceled) || !Agreed(err) {
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
		if err := s.Ranks.agree(nil); err != nil { // the group goes on
			t.Errorf("rank %d, afterwards: %v", g.Rank(), err)
		}
	})
}

// saturating is a device whose steps have a fixed cost in addition to the cost of the bags.
func saturating(step float64) func(int) (float64, error) {
	return func(bags int) (float64, error) { return float64(bags) / (step + float64(bags)), nil }
}

func TestBatchChoice_TakesTheSmallestThatIsAboutAsFastAsAny(t *testing.T) {
	for _, c := range []struct {
		fits, allows int
		step         float64
		want         int
		why          string
	}{
		{1 << 20, 1 << 20, 2, 32, "no larger one is faster"},
		{1 << 20, 1 << 20, .1, 8, "no larger one is faster"},
		{64, 1 << 20, 1000, 64, "memory holds no larger one"},
		{1 << 20, 100, 1000, 64, "fewer than 50 steps"},
		{1 << 20, 1 << 20, 1e9, 1024, "larger ones are not tried"},
		{4, 1 << 20, 1000, 4, "memory holds no larger one"},
		{1 << 20, 3, 1, 2, "fewer than 50 steps"},
		{1, 1, 1, 1, "memory holds no larger one"},
	} {
		b := &batchChoice{fits: c.fits, allows: c.allows}
		expect.OK(t, b.choose(saturating(c.step)))
		if b.chosen != c.want || !strings.Contains(b.text(.001), c.why) {
			t.Errorf("%+v: %s", c, b.text(.001))
		}
		if last := b.tried[len(b.tried)-1].bags; last > min(c.fits, c.allows) {
			t.Errorf("%+v: %d was tried", c, last)
		}
	}
}

func TestBatchChoice_PassesErrorsOn(t *testing.T) {
	broken := errors.New("no memory")
	b := &batchChoice{fits: 64, allows: 64}
	if err := b.choose(func(int) (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// The folder has the number, with which a run goes on.
func TestAutoBatch_IsANumberInTheFolder(t *testing.T) {
	t.Parallel()
	automatic := func(c *Config) {
		c.Train.BatchSize, c.Train.Stage1Epochs, c.Train.MaxSteps = train.AutoBatch, 1, 2
	}
	var told string
	s := smallScenes(t, automatic)
	s.Observe.Message = func(m Message) {
		if m.Topic == "batch" {
			told = m.Text
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	learn(t, s, dir)
	there := expect.Value(ReadConfig(dir))(t)
	n := there.Train.BatchSize
	if n < 1 || n > 512/enoughSteps || n != s.Config.Train.BatchSize || there.Train.BatchSizeMIL != 32 ||
		!strings.Contains(told, "`train.learning_rate`") {
		t.Errorf("%d bags, %d with MIL: %s", n, there.Train.BatchSizeMIL, told)
	}
	if c, err := train.ReadCheckpoint(filepath.Join(dir, train.LastName)); err != nil || c.Config.BatchSize != n {
		t.Errorf("the checkpoint has %v, %v", c, err)
	}
	again := smallScenes(t, automatic).Config
	if again.KeepBatch(dir); again.Train.BatchSize != n {
		t.Errorf("the same command asks for %d", again.Train.BatchSize)
	}
	if again.KeepBatch(t.TempDir()); again.Train.BatchSize != n {
		t.Errorf("a number has become %d", again.Train.BatchSize)
	}
}

// A large net leaves room for fewer bags; what is counted is that of the plan.
func TestMostInMemory_GoesByThePlan(t *testing.T) {
	s := smallScenes(t, func(*Config) {})
	arms := expect.Value(s.Config.PlannedArms())(t)
	nets := s.nets()
	net := expect.Value(nets.fresh(arms[0]))(t)
	defer func() { _ = net.Close() }()
	one, two := stepBytes(net, 64, 1, 0), stepBytes(net, 128, 1, 0)
	if one <= 0 || two < one*3/2 || two > one*5/2 {
		t.Errorf("%d bytes for 64 bags, %d for 128", one, two)
	}
	s.Config.Train.Optimizer, s.Config.Train.EMA = train.SGD, 0
	sgd := s.Config.Train.StateBytes(net)
	s.Config.Train.Optimizer, s.Config.Train.EMA = train.AdamW, .9
	if with := s.Config.Train.StateBytes(net); with != 3*sgd || sgd == 0 {
		t.Errorf("%d bytes of momentum, %d of moments and averages", sgd, with)
	}
	if n, err := mostInMemory(NewEstimator(s), arms[0], 1); err != nil || n < 8 || n&(n-1) != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := mostInMemory(NewEstimator(s), arms[0], 1<<20); err != nil || n != 1 {
		t.Errorf("%d bags of a million frames, %v", n, err)
	}
}

// smallScenes is a run of a few scenes that takes a second.
func smallScenes(t *testing.T, change func(*Config)) *Session {
	t.Helper()
	c := DefaultConfig()
	err := Sources{Settings: settings(t, "arm=baseline", "recipe.form=paper", "data.train_size=512",
		"data.validation_size=64", "data.test_size=64", "net.width=.5", "run.device=cpu", "run.threads=1",
		"train.stage1_epochs=6", "train.stage2_epochs=1")}.Resolve(&c)
	change(&c)
	expect.OK(t, err)
	return opened(t, c, Options{})
}
