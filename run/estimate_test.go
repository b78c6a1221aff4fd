package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"nmn/recipe"
)

// estimated are the estimates of the arms of a configuration on scenes.
func estimated(t *testing.T, ctx context.Context, c Config) (all []Measured, err error) {
	t.Helper()
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 70, 0, 1
	c.Run.Device, c.Recipe.Form, c.Arm = "cpu", recipe.Paper, recipe.FD
	s := opened(t, c, Options{})
	arms := value(c.PlannedArms())(t)
	e := NewEstimator(s)
	for _, arm := range arms {
		w, err := e.Workload(t.Context(), arm)
		must(t, err)
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
	all := value(estimated(t, t.Context(), c))(t)
	if len(all) != 2 {
		t.Fatalf("%d estimates, want stage 1 and the arm", len(all))
	}
	m := all[0]
	if !m.Estimated || m.Step <= 0 || m.Bags != 16 || m.Images != 16 || m.Steps != 2*5 || m.Mean != 14 || !m.Full() {
		t.Errorf("%+v, want 10 steps of 16 pictures", m)
	}
	c.Train.BatchSize = 64
	larger := value(estimated(t, t.Context(), c))(t)
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
	all := value(estimated(t, t.Context(), c))(t)
	s := opened(t, c, Options{})
	arm := value(recipe.Stage1.ForTraining(false))(t)
	made := value(NewEstimator(s).timeSteps(t.Context(), arm, 1, time.Hour))(t)
	const small = 1 << 10 // the norm of the gradients, and the like
	if d := made.Memory - all[0].Memory; !all[0].Estimated || made.Estimated || d < 0 || d > small {
		t.Errorf("estimated %d bytes, taken %d", all[0].Memory, made.Memory)
	}
}

// Short steps are made: nothing is as true.
func TestEstimate_ShortStepsAreMade(t *testing.T) {
	c := value(Preset(ScenesPreset, Quick))(t)
	c.Net.Width = .5
	all := value(estimated(t, t.Context(), c))(t)
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
	arm := value(recipe.Stage1.ForTraining(false))(t)
	if w, err := NewEstimator(s).Workload(t.Context(), arm); err == nil || !strings.Contains(err.Error(), "none.pth") {
		t.Errorf("%v, %v", w, err)
	}
}
