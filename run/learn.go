package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// newNet is the net that the arm starts with, or resumes.
func (r *armRun) newNet(arm train.Arm, p *recipe.Plan, resumed bool) (*model.Net, error) {
	classes := r.data.Train.Vocabulary.Len()
	from := r.from
	if p.From != "" {
		from = p.From
	}
	net, digest, err := arm.NewNet(r.config.model(classes, r.data.Width(), model.NoNoise),
		r.session.Backend, p.Config,
		p.Data.Train, from)
	if err != nil {
		return nil, err
	}
	r.start = startOf(r.dir, from, digest)
	if arm.Stage == 2 || resumed { // the checkpoint has all weights
		return net, nil
	}
	return r.session.loadWeights(net)
}

// resumes reports whether the folder has a checkpoint to go on from.
func (r *armRun) resumes() (bool, error) {
	return fromRank0(r.session, durable.Exists(filepath.Join(r.dir, train.LastName)))
}

// clips says what the clips of the data are to the nets of the run; nil for pictures.
func (r *armRun) clips() *train.Clips {
	t := r.session.Data.Taking
	if t == nil {
		return nil
	}
	return &train.Clips{ByFrame: r.config.ByFrame(), Frames: t.Frames, Size: t.Size, Quality: t.Quality}
}

// trainStage runs the stage, from the last checkpoint of the folder if it is resumed.
func (r *armRun) trainStage(ctx context.Context, arm train.Arm, net *model.Net, plan *recipe.Plan,
	resumed bool, eachEpoch func(context.Context) (*recipe.Judgement, error)) (reached train.Result, curve []report.Point,
	err error) {
	l := r.config.Loader()
	l.Targets, l.Evidence = plan.Targets, plan.Evidence
	var epochs *epochRecord
	options := train.Options{
		Config: plan.Config, Stage: arm.Stage, Net: net, Start: began(r.start, r.planned), Data: plan.Data.Train,
		Validation: plan.Data.Validation,
		Loader:     l, Directory: r.dir, Online: plan.Online, Keep: r.keep, Group: r.session.ranks,
		Backbone: r.session.backbone, Clips: r.clips(),
		Wire: r.config.Run.wire(),
	}
	if eachEpoch != nil {
		options.AfterEpoch = func(ctx context.Context, at train.Position) error {
			judged, err := eachEpoch(ctx)
			if err != nil {
				return fmt.Errorf("cannot evaluate after epoch %d: %w", at.Epoch, err)
			}
			return epochs.put(at, judged)
		}
	}
	trainer, err := train.New(options)
	if err != nil {
		return reached, nil, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	step := -1
	if resumed {
		if err := trainer.Resume(filepath.Join(r.dir, train.LastName)); err != nil {
			return reached, nil, err
		}
		step = trainer.Position().Step
		r.session.Log.Info("resumed", "dir", r.dir, "step", step)
		r.session.Notify(Message{Text: fmt.Sprintf("%s: going on from step %d of %d", r.title(), step, trainer.Steps())})
	}
	var records *records
	err = r.session.Save(ctx, func() (err error) {
		if eachEpoch != nil {
			if epochs, err = openEpochs(r.dir, step); err != nil {
				return err
			}
		}
		records, err = openRecords(r.dir, step, &r.config, r.data.Validation)
		return err
	})
	if err != nil {
		return reached, nil, err
	}
	r.warnBroken(records.broken())
	trainer.Observers = slices.Concat(records.observers(), []train.Observer{epochs.observer()}, r.watchers())
	reached, err = trainer.Run(ctx)
	r.session.Observe.End()
	missing := SaveFiles(context.WithoutCancel(ctx), r.session.Log, func() error {
		return cmp.Or(records.flush(), epochs.flush())
	})
	if err = cmp.Or(err, records.close(), missing); err != nil {
		return reached, nil, Interrupted(err)
	}
	if !r.session.leads() { // which has no page to draw it on
		return reached, nil, nil
	}
	curve, broken, err := ReadCurve(filepath.Join(r.dir, LogFile), arm.Name)
	r.warnBroken(broken)
	if from := cmp.Or(plan.From, r.from); arm.Stage == 2 && from != "" && r.config.Arm != recipe.EM {
		curve = afterStage1(filepath.Dir(from), curve) // the net of EM is that of its last round
	}
	return reached, curve, err
}

// afterStage1 puts the curve of stage 1, where the folder of its checkpoint has a log, before that of stage 2, whose
// steps then go on from its last.
func afterStage1(dir string, curve []report.Point) []report.Point {
	first, _, err := ReadCurve(filepath.Join(dir, LogFile), string(recipe.Stage1))
	if err != nil || len(first) == 0 { // a checkpoint may have come without its log
		return curve
	}
	last := 0
	for _, p := range first {
		last = max(last, p.Step)
	}
	for _, p := range curve {
		p.Step += last
		first = append(first, p)
	}
	return first
}

// warnBroken warns about lines of the log that could not be read.
func (r *armRun) warnBroken(lines int) {
	if lines > 0 {
		r.session.Log.Warn("broken lines of the log were left out", "dir", r.dir, "count", lines)
	}
}

// title names the arm in progress.
func (r *armRun) title() string {
	if r.name != "" {
		return r.name
	}
	return r.config.Arm.Title(r.config.Net.MIL)
}

// watchers are the observers of the session.
func (r *armRun) watchers() []train.Observer {
	return r.session.Observe.Begin(Training{Title: r.title(), Arm: r.config.Arm, MIL: r.config.Net.MIL,
		Noise: r.data.Noise, Seed: r.config.Train.Seed, Device: r.session.Backend.Name()})
}
