package run

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"nmn/train"
)

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
		must(t, b.choose(saturating(c.step)))
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
	there := value(ReadConfig(dir))(t)
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
	arms := value(s.Config.PlannedArms())(t)
	nets := s.nets()
	net := value(nets.fresh(arms[0]))(t)
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
