package run

import (
	"cmp"

	"nmn/run/folder"
)

// mayChange are the settings that a run may be continued with, for they change no step.
var mayChange = []string{
	"run.", "build.", "chosen", "size", "data.max_bad_samples", "train.stage1_epochs", "train.stage2_epochs",
	"train.max_steps",
	"train.log_steps", "train.evaluate_", "train.checkpoint_", "train.keep_best",
}

// convExact is the one setting below run. that may not change: it changes the last bits of every step, on the same
// machine.
const convExact = "run.conv_exact"

// gradients is another: it changes what several ranks learn.
const gradients = "run.gradients"

// FirstChange finds the first setting that makes two configurations different runs.
func FirstChange(a, b *Config) (key, was, is string) {
	x, y := folder.Flatten(a), folder.Flatten(b)
	a.places().Hide(x, y)
	for _, values := range []map[string]string{x, y} {
		values[gradients] = cmp.Or(values[gradients], GradientsFP32)
	}
	return folder.ChangedKey(x, y, mayChange, convExact, gradients)
}
