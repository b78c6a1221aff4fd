package train

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
)

// rewritten is a copy of a checkpoint with changed tensors. A tensor whose change is nil is left out.
func rewritten(t *testing.T, path string, change func(x *safetensors.Tensor) *safetensors.Tensor) string {
	t.Helper()
	f, err := safetensors.Open(path)
	expect.OK(t, err)
	defer func() { check(t, f.Close()) }()
	var tensors []safetensors.Tensor
	for _, name := range f.Names() {
		values, shape, err := f.Float32(name)
		check(t, err)
		if x := change(&safetensors.Tensor{Name: name, Shape: shape, Data: values}); x != nil {
			tensors = append(tensors, *x)
		}
	}
	other := filepath.Join(t.TempDir(), "other.safetensors")
	_, err = safetensors.WriteFile(other, f.Metadata, tensors)
	check(t, err)
	return other
}

// The optimizer's state is checked completely before the net is changed. A checkpoint that cannot be resumed
// leaves the net unchanged.
func TestResume_LooksAtMomentsBeforeItChangesTheNet(t *testing.T) {
	const moment = "optimizer.v.classifier.6.bias" // the last
	path := trained(t, short())
	for want, c := range map[string]struct {
		is     error
		change func(x *safetensors.Tensor) *safetensors.Tensor
	}{
		"it has no tensor " + moment: {ErrCorrupt, func(*safetensors.Tensor) *safetensors.Tensor { return nil }},
		"its tensor " + moment + " is [18], this model needs [36]": {ErrOtherModel,
			func(x *safetensors.Tensor) *safetensors.Tensor {
				x.Shape, x.Data = []int{18}, x.Data.([]float32)[:18]
				return x
			}},
	} {
		damaged := rewritten(t, path, func(x *safetensors.Tensor) *safetensors.Tensor {
			if x.Name == moment {
				return c.change(x)
			}
			return x
		})
		trainer := short().trainer(t)
		before := weights(t, trainer.Net)
		err := trainer.Resume(damaged)
		expect.Refusal(t, err, want, c.is)
		if !maps.EqualFunc(weights(t, trainer.Net), before, slices.Equal) || trainer.Position().Step != 0 {
			t.Errorf("%s: the net has changed, or stands at step %d", want, trainer.Position().Step)
		}
	}
}

// Numbers that no optimizer makes would spread over all weights with the next step.
func TestResume_RefusesMomentsThatAreNone(t *testing.T) {
	path := trained(t, short())
	for _, c := range map[string]struct {
		moment string
		value  float32
	}{
		"NaN in the first":       {"optimizer.m.features.0.weight", float32(math.NaN())},
		"infinity in the first":  {"optimizer.m.features.0.weight", float32(math.Inf(-1))},
		"NaN in the second":      {"optimizer.v.features.0.weight", float32(math.NaN())},
		"a square below 0":       {"optimizer.v.features.0.weight", -1},
		"infinity in the second": {"optimizer.v.features.0.weight", float32(math.Inf(1))},
	} {
		damaged := rewritten(t, path, func(x *safetensors.Tensor) *safetensors.Tensor {
			if x.Name == c.moment {
				x.Data.([]float32)[3] = c.value
			}
			return x
		})
		expect.Refusal(t, short().trainer(t).Resume(damaged), c.moment, ErrCorrupt)
	}
}

// other is another value of a setting, as JSON has it.
func other(v any) any {
	switch v := v.(type) {
	case float64:
		return v + 1
	case bool:
		return !v
	case string:
		return v + "x"
	case []any:
		return append(slices.Clone(v), 1)
	case map[string]any:
		changed := maps.Clone(v)
		for name, value := range v {
			changed[name] = other(value)
		}
		return changed
	}
	return 1 // of a setting that is left out if it is 0
}

// A run continues with its original settings, except for those listed here, which change no step.
func TestResume_HoldsEverySettingButLimitsAndIntervals(t *testing.T) {
	r := newRig()
	o := r.options(t)
	o.Config.Patience, o.Config.ChunkFrames = 0, 2
	id, err := identify(o)
	check(t, err)
	limits := []string{"stage1_epochs", "stage2_epochs", "max_steps"}
	intervals := []string{"log_steps", "evaluate_epochs", "evaluate_steps", "checkpoint_epochs", "checkpoint_steps",
		"keep_best"}
	for mode, c := range map[string]struct {
		change func(*Config)
		free   []string
	}{
		"constant rate": {func(c *Config) { c.Schedule = Constant }, slices.Concat(limits, intervals)},
		"cosine":        {func(c *Config) { c.Schedule = Cosine }, intervals}, // whose rate depends on the end
		"patience":      {func(c *Config) { c.Schedule, c.Patience = Constant, 3 }, intervals},
	} {
		o := o
		c.change(&o.Config)
		settings := fields(o.Config)
		settings["patience"], settings["loss"] = float64(o.Config.Patience), map[string]any{"kind": crossEntropy}
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			changed := maps.Clone(settings)
			if changed[name] = other(settings[name]); name == "learning_rates" || name == "freeze" {
				changed[name] = nil // other types than numbers
			}
			encoded, err := json.Marshal(changed)
			check(t, err)
			there := Checkpoint{Model: o.Net.Config(), Words: id.words, Data: id.data, Stage: o.Stage}
			if err := json.Unmarshal(encoded, &there.Config); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch name {
			case "learning_rates":
				there.Config.LearningRates = append(there.Config.LearningRates, Rule{"head.*", 2})
			case "freeze":
				there.Config.Freeze = append(there.Config.Freeze, "head.*")
			}
			err = there.sameRun(o, id)
			if free := slices.Contains(c.free, name); free != (err == nil) || err != nil && !errors.Is(err, ErrOtherRun) {
				t.Errorf("%s: with another %s: %v; may change: %t", mode, name, err, free)
			}
		}
	}
}
