package train

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/model"
)

func TestPresets_AreValid(t *testing.T) {
	for name, c := range map[string]Config{"paper": Paper(), "scenes": ScenesPreset(),
		"quick": ScenesQuick()} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfig_ValidateNamesFieldValueAndRange(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"learning_rate is 0, want more than 0":                  func(c *Config) { c.LearningRate = 0 },
		"learning_rate is NaN":                                  func(c *Config) { c.LearningRate = math.NaN() },
		"momentum is 1, want at least 0":                        func(c *Config) { c.Momentum = 1 },
		"accumulate is 0, want at least 1":                      func(c *Config) { c.Accumulate = 0 },
		"batch_size is -1":                                      func(c *Config) { c.BatchSize = -1 },
		`train.optimizer is "rmsprop", want sgd, adam or adamw`: func(c *Config) { c.Optimizer = "rmsprop" },
		`schedule is "linear"`:                                  func(c *Config) { c.Schedule = "linear" },
		"step_every is 0": func(c *Config) {
			c.Schedule, c.StepEvery = StepDown, 0
		},
		"noise.miss_rate at index 1 is 1.5, want at least 0": func(c *Config) {
			c.Noise.Q01 = []float32{0, 1.5}
		},
		"noise.false_rate is empty": func(c *Config) { c.Noise.Q10 = nil },
		`learning_rates[0].pattern is "["`: func(c *Config) {
			c.LearningRates = []Rule{{"[", 1}}
		},
		`learning_rates[0].multiplier ("*") is -1`: func(c *Config) {
			c.LearningRates = []Rule{{"*", -1}}
		},
		`freeze[0] is "a["`:                                func(c *Config) { c.Freeze = []string{"a["} },
		"a stage needs a limit":                            func(c *Config) { c.Stage2Epochs = 0 },
		`best_by is "precision", want human_ap, loss, map`: func(c *Config) { c.BestBy = "precision" },
		"ema is 1, want at least 0":                        func(c *Config) { c.EMA = 1 },
		"layer_decay is 1.5, want at least 0":              func(c *Config) { c.LayerDecay = 1.5 },
		"layer_decay is -0.5, want at least 0":             func(c *Config) { c.LayerDecay = -.5 },
		"ema is NaN, want at least 0 and less than 1":      func(c *Config) { c.EMA = math.NaN() },
		"log_steps is 0":                                   func(c *Config) { c.LogSteps = 0 },
	} {
		c := Paper()
		change(&c)
		expect.Refusal(t, c.Validate(), want)
	}
}

// The measures that a checkpoint may be judged by are declared with the setting.
func TestMeasures_AreThoseOfTheSetting(t *testing.T) {
	for _, d := range setting.Describe(Config{}) {
		if d.Key == "best_by" && !slices.Equal(slices.Sorted(slices.Values(d.Values)),
			slices.Sorted(slices.Values(Measures()))) {
			t.Errorf("declared are %q, there are %q", d.Values, Measures())
		}
	}
}

func TestSchedule_KnownRates(t *testing.T) {
	base := Paper()
	base.LearningRate = 8
	for name, test := range map[string]struct {
		change func(*Config)
		want   map[int]float64 // by step, of 100
	}{
		"constant": {func(*Config) {}, map[int]float64{1: 8, 100: 8}},
		"warm-up":  {func(c *Config) { c.WarmupSteps = 4 }, map[int]float64{1: 2, 2: 4, 4: 8, 5: 8}},
		"step": {func(c *Config) { c.Schedule, c.StepEvery, c.StepFactor = StepDown, 10, .5 },
			map[int]float64{1: 8, 10: 8, 11: 4, 21: 2}},
		"cosine": {func(c *Config) { c.Schedule, c.CosineFloor = Cosine, .25 },
			map[int]float64{1: 8, 51: 5, 101: 2, 500: 2}},
	} {
		c := base
		test.change(&c)
		for step, want := range test.want {
			if got := NewSchedule(c.LearningRateConfig, 100).At(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: step %d has rate %v, want %v", name, step, got, want)
			}
		}
	}
}

func TestRules_LastMatchCountsAndFrozenGoesFirst(t *testing.T) {
	r := newRig()
	r.noise = model.FeatureDependent
	r.config.LearningRates = []Rule{{"head.*.weight", 3}, {"head.fc8.*", 10}, {"nmn.bias", 7}}
	r.config.Freeze = []string{"backbone.conv[12]_*"}
	trainer := r.trainer(t)
	want := map[string]float64{"backbone.conv1_1.weight": 0, "backbone.conv2_1.bias": 0, "backbone.conv3_1.weight": 1,
		"head.fc6.weight": 3, "head.fc6.bias": 1, "head.fc8.weight": 10, "head.fc8.bias": 10, "nmn.weight": .1,
		"nmn.bias": 7}
	for name, m := range want {
		if got := r.config.multiplier(name); got != m {
			t.Errorf("%s has multiplier %v, want %v", name, got, m)
		}
		if p := named(trainer.Net, name); p.Frozen != (m == 0) || (p.G == nil) != (m == 0) {
			t.Errorf("%s: frozen %t with gradient %v", name, p.Frozen, p.G)
		}
	}
	before := weights(t, trainer.Net)
	run(t, trainer)
	for name, after := range weights(t, trainer.Net) {
		changed := false
		for i := range after {
			changed = changed || after[i] != before[name][i]
		}
		if frozen := r.config.multiplier(name) == 0; changed == frozen {
			t.Errorf("%s: frozen %t, changed %t", name, frozen, changed)
		}
	}
}

func TestRules_FrozenNoiseModelKeepsItsRates(t *testing.T) {
	r := newRig()
	r.noise, r.config.Noise.Frozen = model.FeatureIndependent, true
	trainer := r.trainer(t)
	run(t, trainer)
	scores, err := Score(t.Context(), trainer.Net, trainer.Data, trainer.Options.loaderConfig())
	expect.OK(t, err)
	for c := range 36 {
		if q01, q10 := scores.Rates.Q01[c], scores.Rates.Q10[c]; math.Abs(q01-.35) > 1e-6 || math.Abs(q10-.16) > 1e-6 {
			t.Fatalf("class %d: rates %v and %v, want .35 and .16", c, q01, q10)
		}
	}
}

func TestRules_PatternThatMatchesNothingIsAnError(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Freeze = []string{"backbone.conv9_*"} },
		func(c *Config) { c.LearningRates = []Rule{{"fc8.weight", 2}} },
	} {
		r := newRig()
		change(&r.config)
		expect.Refusal(t, expect.ErrorOf(New(r.options(t))), "matches no parameter")
	}
	r := newRig()
	r.config.Freeze = []string{"nmn.*"} // harmless for an arm without a noise model
	r.trainer(t)
	r.config.Freeze = []string{"backbone.*", "head.*"}
	expect.Refusal(t, expect.ErrorOf(New(r.options(t))), "nothing is left to learn")
}
