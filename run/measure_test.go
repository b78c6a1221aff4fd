package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"nmn/ranks"
	"nmn/ranks/local/localtest"
	"nmn/recipe"
	"nmn/train"
)

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
	c := value(Preset(ScenesPreset, Quick))(t)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = c.Train.Batch(false)-3, 0, 1
	c.Net.Width, c.Run.Device, c.Recipe.Form = .5, "cpu", recipe.Paper
	s := opened(t, c, Options{})
	arm := value(recipe.Stage1.ForTraining(false))(t)
	m := value(NewEstimator(s).Measure(t.Context(), arm))(t)
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
	arm := value(recipe.Stage1.ForTraining(false))(t)
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
