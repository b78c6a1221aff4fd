package annotators

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestEstimate_RefusesWhatNoneCanHave(t *testing.T) {
	inf := float32(math.Inf(-1))
	for says, in := range map[string]Input{
		"": {Bags: 2, Annotators: 1, Classes: 3, Logits: make([]float32, 6)}, "0 classes": {Bags: 1, Annotators: 1},
		"sample 2, class 2: logit -Inf": {Bags: 2, Annotators: 1, Classes: 3, Logits: []float32{0, 0, 0, 0, inf, 0}},
	} {
		_, err := Estimate(t.Context(), in, DefaultOptions())
		if errors.Is(err, ErrInput) != (says != "") || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func TestEstimate_RefusesOptions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		good   bool
	}{
		"as they are":      {func(*Options) {}, true},
		"no iteration":     {func(o *Options) { o.Iterations = 0 }, false},
		"tolerance 0":      {func(o *Options) { o.Tolerance = 0 }, false},
		"confidence 0":     {func(o *Options) { o.Confidence = 0 }, false},
		"confidence 1":     {func(o *Options) { o.Confidence = 1 }, false},
		"strengths":        {func(o *Options) { o.Strength01, o.Strength10 = 1, 2 }, true},
		"endless strength": {func(o *Options) { o.Strength01 = math.Inf(1) }, false},
		"strength NaN":     {func(o *Options) { o.Strength01 = math.NaN() }, false},
	} {
		o := DefaultOptions()
		c.change(&o)
		if _, err := Estimate(t.Context(), *asked3(), o); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
