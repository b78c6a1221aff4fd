package train

import (
	"os"
	"path/filepath"
	"testing"

	"nmn/loader"
	"nmn/model"
)

// A checkpoint that waits in memory for room on the disk becomes the file that it would have been at once, for every
// kind of tensor that a checkpoint has.
func TestHold_WritesWhatWouldHaveBeenWrittenAtOnce(t *testing.T) {
	t.Parallel()
	ofRig := func(change func(*rig)) func(*testing.T) Options {
		return func(t *testing.T) Options {
			r := newRig()
			r.directory, r.bags = t.TempDir(), 16
			change(&r)
			return r.options(t)
		}
	}
	for name, options := range map[string]func(*testing.T) Options{
		"noise model":           ofRig(func(r *rig) { r.noise = model.FeatureDependent }),
		"running statistics":    ofRig(func(r *rig) { r.residual = model.Basic }),
		"averages":              func(t *testing.T) Options { return averaging(t).options(t) },
		"moments of AdamW":      ofRig(func(r *rig) { r.config.Optimizer = AdamW }),
		"scores of the epoch":   func(t *testing.T) Options { return online(t, 1, new(*Scores)) },
		"standardised features": standardisedOptions,
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			var trainer *Trainer
			var held []func(path string) error
			at := func(name string, n int) string {
				return filepath.Join(o.Directory, name+string(rune('a'+n)))
			}
			o.Observers = []Observer{{Step: func(StepDone) {
				s, k := trainer.state(), &trainer.keeper
				check(t, k.hold(s))
				_, err := k.Replace(at("written", len(held)), "", s.About, s.Tensors)
				check(t, err)
				held, k.held = append(held, k.held), nil
			}}}
			trainer = newTrainer(t, o)
			run(t, trainer)
			if len(held) < 3 {
				t.Fatalf("%d steps", len(held))
			}
			for i, write := range held {
				check(t, write(at("held", i)))
				got, err := os.ReadFile(at("held", i))
				check(t, err)
				want, err := os.ReadFile(at("written", i))
				check(t, err)
				if string(got) != string(want) {
					t.Errorf("step %d: %d bytes were held, want a file of %d", i+1, len(got), len(want))
				}
			}
		})
	}
}

// standardisedOptions trains a net that keeps the standard of its features.
func standardisedOptions(t *testing.T) Options {
	_, net, _, raw := standardNets(t)
	r := newRig()
	r.config.BatchSize = 1
	return Options{Config: r.config, Stage: 1, Net: net, Data: rowsSet(t, raw, "a", "b", "c"),
		Loader:    loader.DefaultConfig(),
		Directory: t.TempDir()}
}
