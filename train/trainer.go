package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"nmn/eval"
	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/model"
	"nmn/ranks"
)

// Options are the parts of a Trainer.
type Options struct {
	Config Config
	Stage  int        // 1 or 2: which limit of epochs holds
	Net    *model.Net // ready to learn: from Arm.NewNet. The Trainer does not close it
	Start  string     // SHA-256 of the checkpoint that Net starts from; empty for none
	Data   *loader.Set
	// Validation is the set that Config.EvaluateEpochs and EvaluateSteps evaluate; nil for no validation.
	Validation *loader.Set
	// Loader configures how pictures are read: Fit, Workers, Prefetch, MaxBadSamples, MaxPixels. The Trainer
	// sets batch size, canvas, order, flips, augmentations and seed. If there are Targets, the classifier
	// learns them instead of the labels, by Config.Loss and bypassing the noise model, which must then be
	// frozen. Targets of loader.Unknown are left out. Evidence also replaces the labels, with a loss of its
	// own: -log(p e^E + 1 - p) for each label, see noise.Ops.
	Loader loader.Config
	// Directory holds the checkpoints last.safetensors, previous.safetensors and best.safetensors. It is empty
	// for none. All ranks see it, and rank 0 writes there.
	Directory string
	// Clock returns the time for Config.CheckpointMinutes; nil for time.Now.
	Clock     func() time.Time
	Observers []Observer
	// Online, if set, is called at the end of the first epoch with logits of the bags of its second half,
	// each computed before the net learned from the bag, in the order of the epoch. The scores hold logits
	// alone. For large sets they cover the last bags, up to about 67 million numbers. After an interruption
	// Online may be called again.
	Online func(context.Context, *Scores) error
	// AfterEpoch, if set, is called at the end of each epoch with the net as it is then, before a checkpoint
	// counts the epoch as done. With Config.EMA the weights are averaged. It is also called if a limit of
	// steps ends the stage within an epoch. It may run the net, and must not change it. After an interruption
	// it may be called again for an epoch.
	AfterEpoch func(context.Context, Position) error
	// Keep, if set, is called with each validation before it counts as done. If it fails, the stage ends with
	// its error, and a resumed stage validates again.
	Keep func(*Evaluated) error
	// Backbone is the pretrained net that produced Data's features; nil for none. Checkpoints record it.
	Backbone *Backbone
	// Clips describes how Data presents clips to the net; nil for pictures. Checkpoints record it.
	Clips *Clips
	// Group are the ranks that train this net together; nil for this process alone.
	Group ranks.Group
	// Wire is the number format of gradients between ranks. All ranks must use the same one.
	Wire ranks.Wire
}

// Position is the progress of a stage.
type Position struct {
	Epoch int `json:"epoch"` // the current one, from 1; one more than the limit at the end
	Batch int `json:"batch"` // batches of the epoch that have been used
	Step  int `json:"step"`  // updates so far
	// Bags, Images and LossSum count the current epoch so far.
	Bags    int     `json:"bags"`
	Images  int     `json:"images"`
	LossSum float64 `json:"loss_sum"`
	// Loss is the loss of the last step. Before the first step of an epoch it is the loss of the epoch
	// before.
	Loss float64 `json:"loss"`
	// Evaluated is the step of the last validation, 0 for none yet.
	Evaluated int `json:"evaluated"`
	// Stale is the number of validations since the best one.
	Stale int `json:"stale,omitempty"`
}

// Result is how a stage ended.
type Result struct {
	Position
	// Best is the best checkpoint, if one is kept.
	Best []Best
	// Validation is the last evaluation; nil if this process made none.
	Validation *eval.Result
}

// Trainer runs one stage of one arm. It serves one goroutine.
type Trainer struct {
	Options
	ranks     *rankState
	updater   *updater
	optimizer *Optimizer // of the updater
	batches   batchReader
	online    *onlineScores // nil for none
	identity  identity
	keeper    CheckpointStore[Checkpoint]

	at       Position
	steps    int
	result   Result
	bad      int       // pictures of the training set that were left out so far
	unscored int       // unreadable bags of the validation set
	started  time.Time // of this process's part of the epoch
	dataWait time.Duration
}

// New prepares a stage from its beginning. Close gives the optimizer's memory back.
func New(o Options) (*Trainer, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	id, err := identify(o)
	if err == nil {
		err = o.Net.ChunkFrames(o.Config.ChunkFrames)
	}
	if err != nil {
		return nil, err
	}
	t := &Trainer{Options: o, ranks: newRankState(o.Group), at: Position{Epoch: 1}, identity: id}
	writes := o.Directory
	if t.ranks.group.Rank() > 0 {
		writes = ""
	}
	t.keeper = NewCheckpointStore(frame, CheckpointStoreOptions{Directory: writes, Count: o.Config.KeepBest,
		Lower: lowerIsBetter(o.Config.BestBy), Minutes: o.Config.CheckpointMinutes, Clock: o.Clock})
	if t.updater, err = newUpdater(&t.Options, t.ranks, o.Config.Batch(o.Net.Config().MIL)); err != nil {
		return nil, err
	}
	t.optimizer = t.updater.optimizer
	if err := t.prepare(); err != nil {
		return nil, errors.Join(err, t.updater.close())
	}
	return t, nil
}

// prepare makes the reader of batches, into memory of the device if it has some, and the folder of checkpoints.
func (t *Trainer) prepare() error {
	feed, config := t.updater.feed, t.Options.loaderConfig()
	config.Memory = feed.memory()
	if g := t.ranks.group; t.ranks.many {
		config.Share = loader.Share{Rank: g.Rank(), Ranks: g.Size()}
		config.MaxBadSamples = math.MaxInt32 // the ranks count the bad samples of all ranks when they meet
	}
	l, err := loader.New(t.Data, config)
	if err != nil {
		return err
	}
	t.batches = batchReader{Loader: l, feed: feed, perStep: t.Config.Accumulate, overfit: t.Config.Overfit,
		reportBad: t.reportBad}
	t.online = newOnlineScores(&t.Options, feed, t.ranks, l)
	t.steps = t.Steps()
	t.updater.schedule = NewSchedule(t.Config.LearningRateConfig, t.steps)
	if t.keeper.Directory == "" {
		return nil
	}
	return PrepareDirectory(t.keeper.Directory)
}

func (o *Options) check() error {
	switch {
	case o.Net == nil || o.Data == nil:
		return errors.New("training: a net and a training set are needed")
	case o.Stage != 1 && o.Stage != 2:
		return fmt.Errorf("training: stage is %d, want 1 or 2", o.Stage)
	case o.Config.Batch(o.Net.Config().MIL) == AutoBatch:
		return errors.New("training: the number of samples of a batch is automatic: a Trainer needs one of at least 1")
	case o.Loader.Targets != nil && o.Net.Config().Noise != model.NoNoise && o.Config.noiseLearns():
		return errors.New("training: soft targets teach the classifier alone: freeze the noise model (noise.frozen)")
	case o.Loader.Evidence != nil && o.Net.Config().Noise != model.NoNoise && o.Config.noiseLearns():
		return errors.New("training: evidence teaches the classifier alone: freeze the noise model (noise.frozen)")
	case o.Loader.Evidence != nil && !o.Config.Loss.IsZero():
		return fmt.Errorf("training: loss %s needs labels, and evidence has its own loss: leave out the loss",
			o.Config.Loss.Name())
	case o.Config.Loss.Large() && ranks.Of(o.Group).Size() > 1:
		return fmt.Errorf("training: loss %s looks for the largest losses of a batch, and %d ranks have a part of it each: "+
			"train in one process", o.Config.Loss.Name(), ranks.Of(o.Group).Size())
	case o.Net.Config().Exclusive && (!o.Config.Loss.IsZero() || o.Loader.Evidence != nil):
		return errors.New("training: classes that exclude each other are learned by cross-entropy: leave out `train.loss` " +
			"and `data.evidence`, or give `data.classes` multi")
	case o.Config.Augment.Mixup > 0 && o.Net.Config().Noise != model.NoNoise && o.Loader.Targets == nil:
		return errors.New("training: mixtures of labels teach the classifier alone, and a noise model learns by the " +
			"likelihood of labels: leave out `train.augment.mixup`, or train an arm without a noise model (stage1, baseline)")
	}
	if err := o.Config.Loss.check(o.Net.Config().Noise); err != nil {
		return err
	}
	sets := []*loader.Set{o.Data}
	if o.Validation != nil {
		sets = append(sets, o.Validation)
	}
	for _, set := range sets {
		if set.Vocabulary == nil || set.Vocabulary.Len() != o.Net.Config().Classes {
			return fmt.Errorf("training: the set %q needs a vocabulary of the %d classes of the net",
				set.Name, o.Net.Config().Classes)
		}
	}
	for _, set := range sets {
		if err := fits(o.Net, set); err != nil {
			return err
		}
	}
	if o.Validation == nil {
		return nil
	}
	if o.Config.Patience > 0 && o.Directory == "" {
		return errors.New("training: patience goes back to the best checkpoint: it needs a folder of checkpoints")
	}
	return sameWords(o.Data.Vocabulary, o.Validation.Vocabulary)
}

// fits checks that a set has the input of a net: pictures, or vectors of its length.
func fits(net *model.Net, set *loader.Set) error {
	width := 0
	if set.Vectors != nil {
		width = set.Vectors.Width()
	}
	input := net.Config().Input
	switch {
	case input == width:
		return nil
	case input == 0:
		return fmt.Errorf("training: the net takes pictures, %q has features: %w", set.Name, ErrOtherModel)
	case width == 0:
		return fmt.Errorf("training: the net takes %d features, %q has pictures: %w", input, set.Name, ErrOtherModel)
	}
	return fmt.Errorf("training: the net takes %d features, %q has %d: %w",
		input, set.Name, width, ErrOtherModel)
}

func (o *Options) loaderConfig() loader.Config {
	c := o.Config.Reading(o.Loader, o.Net.Config(), o.Stage)
	c.Standard = standardOf(o.Net)
	if o.Online != nil {
		c.AugmentFrom = 2 // scores use unchanged pictures, each of one bag
	}
	return c
}

// Reading returns the loader configuration of a stage for a net of this configuration: its batches, their
// order, flips and augmentations. Other fields come from l.
func (c Config) Reading(l loader.Config, net model.Config, stage int) loader.Config {
	l.BatchSize, l.Size = c.Batch(net.MIL), net.Size
	l.Shuffle, l.Flip = true, c.Flip
	l.Seed = rng.Derive(c.Seed, fmt.Sprintf("train/stage%d", stage))
	l.Augment, l.Mean = c.Augment, meanColour(net)
	return l
}

// meanColour is the net's mean pixel, rounded to grey levels, so that it normalises to about 0.
func meanColour(net model.Config) (colour [3]uint8) {
	for c, mean := range net.Mean {
		colour[c] = uint8(min(max(mean+.5, 0), 255))
	}
	return colour
}

// standardOf returns the standardisation of a net's features; nil for none.
func standardOf(net *model.Net) *loader.Standard {
	mean, scale := net.Standard()
	if mean == nil {
		return nil
	}
	return &loader.Standard{Mean: mean, Scale: scale}
}

// StepsPerEpoch is the number of updates in an epoch.
func (t *Trainer) StepsPerEpoch() int {
	return (t.batches.Batches() + t.Config.Accumulate - 1) / t.Config.Accumulate
}

// Steps is the number of updates of the whole stage.
func (t *Trainer) Steps() int { return t.limits().Total(t.StepsPerEpoch()) }

// limits returns the limits of the stage.
func (t *Trainer) limits() Limits {
	return Limits{t.Config.Epochs(t.Stage), t.Config.MaxSteps, t.Config.Patience}
}

// Position returns the progress of the stage.
func (t *Trainer) Position() Position { return t.at }

// DeviceBytes is the device memory of net and optimizer.
func (t *Trainer) DeviceBytes() int { return t.Net.Bytes() + t.optimizer.Bytes() }

// Close frees the memory of the optimizer and of recorded steps. The net stays.
func (t *Trainer) Close() error {
	t.batches.leave()
	return t.updater.close()
}

// Run continues to the end of the stage. When ctx ends, Run finishes the current step, saves last.safetensors
// and returns an error that wraps ErrInterrupted. A loss or gradient that is not finite ends it with a
// *NonFiniteError. The parameters and the checkpoints are then as before that step. The Result has the
// position and the best checkpoint in any case. After the end of the stage the net has the averages of its
// weights if Config.EMA is set.
func (t *Trainer) Run(ctx context.Context) (Result, error) {
	err := t.optimizer.showAverages(false)
	if err == nil {
		err = t.ranks.align(&t.Options, t.batches.Batches(), t.steps, t.at)
	}
	t.started = time.Now()
	for err == nil && !t.limits().Reached(t.at.Epoch, t.at.Step, t.at.Stale) {
		if t.at.Batch >= t.batches.Batches() {
			err = t.endEpoch(ctx)
			continue
		}
		if err = t.betweenSteps(ctx); err == nil && !t.ranks.many { // several ranks end together, within the step
			err = ctx.Err()
		}
		if err == nil {
			err = t.step(ctx)
		}
	}
	if err == nil {
		err = t.endStage(ctx)
	}
	t.batches.leave()
	err = t.interrupted(ctx, err)
	if err == nil {
		err = t.optimizer.showAverages(true)
	}
	t.result.Position, t.result.Best = t.at, t.keeper.best
	return t.result, err
}

// interrupted is Interrupted, on all ranks if any of them was interrupted.
func (t *Trainer) interrupted(ctx context.Context, err error) error {
	if t.ranks.many && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		ended, end := context.WithCancelCause(ctx)
		end(err)
		ctx = ended
	}
	return SaveInterrupted(ctx, err, t.at.Epoch, t.at.Step, t.steps, t.save)
}

// betweenSteps does the work that is due by the number of steps.
func (t *Trainer) betweenSteps(ctx context.Context) error {
	if due(t.at.Step, t.Config.EvaluateSteps) {
		if err := t.ranks.agree(t.evaluate(ctx)); err != nil {
			return err
		}
	}
	if due(t.at.Step, t.Config.CheckpointSteps) || t.at.Step > 0 && !t.ranks.many && t.keeper.Due() {
		return t.trySave() // several ranks decide by rank 0's clock within the step
	}
	return nil
}

// endEpoch validates, notifies the observers, moves to the next epoch and saves, in this order: a
// checkpoint that is saved before the move resumes at the end of this epoch.
func (t *Trainer) endEpoch(ctx context.Context) error {
	t.batches.leave()
	if t.at.Bags == 0 {
		return fmt.Errorf("training: no %s of %q could be used in epoch %d: %d cannot be read", t.Data.Noun().One(),
			t.Data.Name, t.at.Epoch, t.bad)
	}
	done := t.at.Epoch
	if due(done, t.Config.EvaluateEpochs) || due(t.at.Step, t.Config.EvaluateSteps) {
		if err := t.ranks.agree(t.evaluate(ctx)); err != nil {
			return err
		}
	}
	if err := t.ranks.agree(t.online.handOver(ctx, t.at)); err != nil {
		return err
	}
	if err := t.afterEpoch(ctx); err != nil {
		return err
	}
	t.reportEpoch()
	t.at = Position{Epoch: done + 1, Step: t.at.Step, Loss: t.at.Loss, Evaluated: t.at.Evaluated, Stale: t.at.Stale}
	t.started, t.dataWait = time.Now(), 0
	save, err := t.ranks.first(due(done, t.Config.CheckpointEpochs) || t.keeper.Due())
	if err != nil || !save {
		return err
	}
	return t.trySave()
}

func (t *Trainer) afterEpoch(ctx context.Context) error {
	if t.AfterEpoch == nil {
		return nil
	}
	t.batches.leave() // its workers would compete with the workers of the callback
	return t.ranks.agree(t.optimizer.onAverages(func() error { return t.AfterEpoch(ctx, t.at) }))
}

// endStage validates if the net has changed since the last validation, and saves.
func (t *Trainer) endStage(ctx context.Context) error {
	if t.Config.EvaluateEpochs > 0 || t.Config.EvaluateSteps > 0 {
		if err := t.ranks.agree(t.evaluate(ctx)); err != nil {
			return err
		}
	}
	if t.at.Batch > 0 {
		if err := t.afterEpoch(ctx); err != nil {
			return err
		}
		if !t.keeper.Saved(t.at) {
			t.reportEpoch()
		}
	}
	if err := t.backToBest(); err != nil {
		return err
	}
	return t.save()
}

// backToBest loads the parameters of the best checkpoint, if Patience is set and the last parameters are not
// the best.
func (t *Trainer) backToBest() error {
	if t.Config.Patience == 0 || len(t.keeper.best) == 0 || t.keeper.best[0].Step == t.at.Step {
		return nil
	}
	// there may have been no room for the best
	if t.ranks.many || t.keeper.unsaved() {
		if err := t.save(); err != nil {
			return err
		}
	}
	return frame.With(filepath.Join(t.Directory, BestName), func(_ *Checkpoint, file *safetensors.File) error {
		t.keeper.saved = nil // the same position with other parameters is another checkpoint
		if _, err := t.Net.Load(file, nil); err != nil {
			return err
		}
		return t.optimizer.loadAverages(file)
	})
}

// due reports whether a count falls on an interval; an interval of 0 is never due.
func due(count, every int) bool { return every > 0 && count > 0 && count%every == 0 }

func (t *Trainer) reportEpoch() {
	observers(t.Observers).Epoch(EpochDone{
		Epoch:      t.at.Epoch,
		Step:       t.at.Step,
		Loss:       t.at.LossSum / float64(max(t.at.Bags, 1)),
		Bags:       t.at.Bags,
		Images:     t.at.Images,
		BadSamples: t.bad,
		DataWait:   t.dataWait,
		Duration:   time.Since(t.started),
	})
}
