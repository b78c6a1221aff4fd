package recipe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/labels/rates/crossfit"
	"nmn/loader"
	"nmn/model"
	"nmn/train"
)

// Rounds of folds, which are the names of their folders.
const (
	PlainRound = "stage1"
	NoisyRound = "noise" // trained through the held noise model
)

// FoldsFile is the file of a recipe's folder that says which bag is in which fold.
const (
	FoldsFile  = "folds.json"
	logitsName = "logits" // tensor of the scores of an epoch
	epochKey   = "nmn.epoch"
)

type round struct {
	best   int       // epoch with the least out-of-fold loss on the noisy labels
	loss   []float64 // of each epoch: mean over bags, summed over classes
	logits []float32 // N×K of the best epoch, out-of-fold
	bags   []int     // that have scores, in the order of logits
}

// fold is the training of one net on all folds but one, with what the fold holds out as its validation set.
type fold struct {
	recipe *Recipe
	plan   *crossfit.Plan
	number int // from 0
	name   string
	arm    train.Arm
	config train.Config
}

// folds trains the nets of a round, or goes on where it was interrupted, and gathers their scores.
func (r *Recipe) folds(ctx context.Context, name string, noise model.NoiseMode, c train.Config) (*round, error) {
	plan, err := r.foldPlan(ctx)
	if err != nil {
		return nil, err
	}
	arm, err := Stage1.ForTraining(r.Settings.MIL)
	if err != nil {
		return nil, err
	}
	arm.Noise = noise
	for number := range plan.Folds {
		f := fold{recipe: r, plan: plan, number: number, name: name, arm: arm, config: c}
		f.config.Seed = rng.Derive(c.Seed, fmt.Sprintf("recipe/%s/fold%d", name, number+1))
		f.config.Stage1Epochs, f.config.Patience, f.config.KeepBest = r.Settings.Recipe.foldEpochs(), 0, 0
		f.config.EvaluateEpochs, f.config.EvaluateSteps, f.config.BestBy = 1, 0, "loss"
		if err := f.run(ctx); err != nil {
			return nil, err
		}
	}
	return r.gather(plan, name)
}

// foldPlan reads the plan of folds, or deals and keeps it.
func (r *Recipe) foldPlan(ctx context.Context) (*crossfit.Plan, error) {
	if err := r.Trainer.Prepare(ctx, r.Dir); err != nil {
		return nil, err
	}
	path, ids := filepath.Join(r.Dir, FoldsFile), r.Data.Train.IDs
	plan, err := crossfit.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if plan, err = r.deal(ctx, r.Settings.Folds()); err != nil {
			return nil, err
		}
		return plan, r.Save(ctx, func() error { return plan.WriteFile(path) })
	case err != nil:
		return nil, err
	case plan.Folds != r.Settings.Folds():
		return nil, fmt.Errorf("%s: %d folds, this run has %d: remove the folder, or name another `run_dir`", path,
			plan.Folds, r.Settings.Folds())
	}
	if err := plan.Matches(ids); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return plan, nil
}

// deal deals bags to folds. Near-duplicates stay in one fold: a net that has learned the label of one would know that
// of the other. A group has half as many bags as a fold at most, so that folds stay of one size.
func (r *Recipe) deal(ctx context.Context, folds int) (*crossfit.Plan, error) {
	ids := r.Data.Train.IDs
	groups, err := r.Alike(ctx, len(ids)/(2*folds))
	if err != nil {
		return nil, err
	}
	return crossfit.New(ids, folds, rng.Derive(r.Settings.Train.Seed, "recipe"), groups)
}

func (r *Recipe) foldDir(name string, number int) string {
	return filepath.Join(r.Dir, name, fmt.Sprintf("fold-%d", number+1))
}

// EpochName matches the files with the scores of an epoch, in the folder of a fold.
var EpochName = regexp.MustCompile(`^epoch-\d+\.safetensors$`)

func epochFile(dir string, epoch int) string {
	return filepath.Join(dir, fmt.Sprintf("epoch-%02d.safetensors", epoch))
}

// run trains one net. If it is trained already, run only opens it to check that it belongs to this run.
func (f *fold) run(ctx context.Context) error {
	r := f.recipe
	title := fmt.Sprintf("fold %d of %d", f.number+1, f.plan.Folds)
	if f.arm.Noise != model.NoNoise {
		title += ", noise held"
	}
	data := *r.Data
	var err error
	if data.Train, err = loader.Subset(r.Data.Train, r.Data.Train.Name+" without "+title,
		f.plan.Training(f.number)); err != nil {
		return err
	}
	if data.Validation, err = loader.Subset(r.Data.Train, r.Data.Train.Name+", "+title,
		f.plan.HeldOut(f.number)); err != nil {
		return err
	}
	learned := &data
	if learned, err = learned.ByFrame(ctx, r.Settings.ByFrame); err != nil {
		return err
	}
	dir := r.foldDir(f.name, f.number)
	return r.Trainer.TrainNet(ctx, Training{Title: title, Dir: dir, Arm: f.arm, Config: f.config, Data: learned,
		Evaluated: func(e *train.Evaluated) error {
			return r.Save(ctx, func() error { return f.keep(dir, e) })
		}})
}

// keep writes the scores of the held-out bags after an epoch, before the checkpoint of that epoch.
func (f *fold) keep(dir string, e *train.Evaluated) error {
	loss := train.Measure("loss", e.Result)
	if !loss.Defined() {
		return fmt.Errorf("recipe: epoch %d of fold %d has no loss on held-out labels", e.Epoch, f.number+1)
	}
	meta := map[string]string{epochKey: fmt.Sprintf("%.17g", float64(loss))}
	held := len(f.plan.HeldOut(f.number))
	logits := e.Scores.LogitsOf(held)
	_, err := safetensors.WriteFile(epochFile(dir, e.Epoch), meta, []safetensors.Tensor{{Name: logitsName,
		DType: safetensors.F32, Shape: []int{held, len(logits) / held}, Data: logits}})
	return err
}

// gather puts the scores of all folds together, at the epoch at which they explain the labels best: the first with the
// least out-of-fold loss on the noisy labels,
//
//	V(e) = mean over bags of  sum over classes of BCE(O(e), z)
//
// Early in training the nets have learned too little, later they have memorised the noise of their own folds.
func (r *Recipe) gather(plan *crossfit.Plan, name string) (out *round, err error) {
	out = &round{}
	for epoch := 1; epoch <= r.Settings.Recipe.foldEpochs(); epoch++ {
		v := 0.0
		for number := range plan.Folds {
			loss, _, err := readEpoch(epochFile(r.foldDir(name, number), epoch), false)
			if err != nil {
				return nil, err
			}
			v += loss * float64(len(plan.HeldOut(number)))
		}
		out.loss = append(out.loss, v/float64(len(plan.IDs)))
	}
	for bag := range plan.IDs {
		out.bags = append(out.bags, bag)
	}
	out.best = 1 + slices.Index(out.loss, slices.Min(out.loss))
	out.logits, err = plan.Gather(r.Data.Train.Vocabulary.Len(), func(number int) ([]float32, error) {
		_, logits, err := readEpoch(epochFile(r.foldDir(name, number), out.best), true)
		return logits, err
	})
	return out, err
}

// readEpoch reads what keep wrote.
func readEpoch(path string, scores bool) (loss float64, logits []float32, err error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return 0, nil, fmt.Errorf("scores of a fold: %w; remove the folder of the fold to train it again", err)
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	if loss, err = strconv.ParseFloat(file.Metadata[epochKey], 64); err != nil {
		return 0, nil, fmt.Errorf("%s: its loss: %w", path, err)
	}
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, nil, fmt.Errorf("%s: its loss is %v", path, loss)
	}
	if scores {
		logits, _, err = file.Float32(logitsName)
	}
	return loss, logits, err
}
