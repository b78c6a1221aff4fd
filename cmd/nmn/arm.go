package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/model"
	"nmn/report"
	"nmn/train"
)

// armRun is one arm that is trained in one folder.
type armRun struct {
	session *session
	config  config // its Arm is this one
	data    *dataSets
	dir     string
	from    string // checkpoint of stage 1, for arms of stage 2
	heading string // for people, when training begins; empty for none

	recipe    *recipe          // nil for the paper's plain form
	name      string           // in messages; empty for that of the arm
	observers []train.Observer // beside those that keep records and watch
}

// run trains the arm, or goes on where it was interrupted, evaluates it and writes the page of the
// run. A run that is complete already is not run again; reused tells.
func (r *armRun) run(ctx context.Context) (o *outcome, reused bool, err error) {
	identity, err := fingerprint(ctx, &r.config, r.data, r.from)
	if err != nil {
		return nil, false, err
	}
	if o, err = readOutcome(r.dir); err != nil {
		return nil, false, err
	}
	if o != nil && o.Fingerprint == identity {
		if r.config.EachEpoch {
			o.epochs, err = readEpochs(r.dir)
		}
		return o, true, err
	}
	if err := prepareFolder(r.dir, &r.config); err != nil {
		return nil, false, err
	}
	if err := r.data.train.Vocabulary.WriteFile(filepath.Join(r.dir, vocabularyName)); err != nil {
		return nil, false, err
	}
	if err := r.data.writeFlips(r.dir); err != nil {
		return nil, false, err
	}
	if o, err = r.train(ctx); err != nil {
		return nil, false, err
	}
	o.Fingerprint = identity
	return o, false, o.write(r.dir)
}

// train runs the stage of the arm to its end and evaluates it.
func (r *armRun) train(ctx context.Context) (o *outcome, err error) {
	arm, err := r.config.Arm.trained(r.config.Net.MIL)
	if err != nil {
		return nil, err
	}
	if r.heading != "" {
		r.session.tell(message{text: r.heading})
	}
	settings := r.config.settings()
	plan, err := makePlan(ctx, &settings, r.recipe, r, r.data, r.dir, r.from)
	if err != nil {
		return nil, err
	}
	net, err := r.newNet(arm, plan)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	j := r.judge()
	var eachEpoch func(context.Context) (*judgement, error)
	if r.config.EachEpoch {
		eachEpoch = func(ctx context.Context) (*judgement, error) {
			judged, _, err := j.judge(ctx, net, plan)
			return judged, err
		}
	}
	began := time.Now()
	reached, curve, err := r.learn(ctx, arm, net, plan, eachEpoch)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began)
	judged, scores, err := j.judge(ctx, net, plan)
	if err != nil {
		return nil, err
	}
	set, split := r.data.judged()
	o = &outcome{Arm: r.config.Arm, MIL: arm.MIL, Noise: r.data.noise, Flips: r.data.flips, Seed: r.config.Train.Seed, Steps: reached.Step,
		Loss: reached.Loss, Seconds: seconds.Seconds(), Split: split, judgement: *judged,
		Threshold: plan.threshold, Before: plan.before, Build: thisBuild()}
	if r.config.EachEpoch {
		if o.epochs, err = readEpochs(r.dir); err != nil {
			return nil, err
		}
	}
	page, err := o.page(&r.config, filepath.Base(r.dir))
	if err != nil {
		return nil, err
	}
	page.Curve, page.Duration = curve, seconds
	if page.Scored, err = pageScores(ctx, scores, set, split); err != nil {
		return nil, err
	}
	if page.Compared, err = r.besideStage1(ctx, page, set); err != nil {
		return nil, err
	}
	if err := writeShown(r.dir, page.Scored); err != nil {
		return nil, err
	}
	return o, report.WriteRun(r.dir, page)
}

func (r *armRun) newNet(arm train.Arm, p *stagePlan) (*model.Net, error) {
	classes := r.data.train.Vocabulary.Len()
	from := r.from
	if p.from != "" {
		from = p.from
	}
	net, err := arm.NewNet(r.config.Net.model(classes, r.data.width(), model.NoNoise), r.session.backend, p.config, p.data.train, from)
	resumed := durable.Exists(filepath.Join(r.dir, train.LastName)) // and has all weights then
	if err != nil || r.config.Net.Weights == "" || arm.Stage == 2 || resumed {
		return net, err
	}
	if err := r.session.loadWeights(net, &r.config.Net, r.data.train.Vocabulary); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return net, nil
}

// learn runs the stage, from the last checkpoint of the folder where there is one.
func (r *armRun) learn(ctx context.Context, arm train.Arm, net *model.Net, plan *stagePlan, eachEpoch func(context.Context) (*judgement, error)) (reached train.Result, curve []report.Point, err error) {
	l := r.config.loader()
	l.Targets = plan.targets
	var epochs *epochRecord
	options := train.Options{
		Config: plan.config, Stage: arm.Stage, Net: net, Data: plan.data.train, Validation: plan.data.validation,
		Loader: l, Directory: r.dir, Online: plan.online,
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
	if last := filepath.Join(r.dir, train.LastName); durable.Exists(last) {
		if err := trainer.Resume(last); err != nil {
			return reached, nil, err
		}
		step = trainer.Position().Step
		r.session.log.Info("resumed", "dir", r.dir, "step", step)
	}
	if eachEpoch != nil {
		if epochs, err = openEpochs(r.dir, step); err != nil {
			return reached, nil, err
		}
	}
	records, err := openRecords(r.dir, step, &r.config, r.data.validation)
	if err != nil {
		return reached, nil, err
	}
	trainer.Observers = slices.Concat(records.observers(), r.watchers(), r.observers)
	reached, err = trainer.Run(ctx)
	if trained := r.session.observe.trained; trained != nil {
		trained()
	}
	if err = cmp.Or(err, records.close()); err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", errInterrupted, err)
		}
		return reached, nil, err
	}
	curve, err = readCurve(filepath.Join(r.dir, logName), arm.Name)
	return reached, curve, err
}

// title names the arm in progress.
func (r *armRun) title() string {
	if r.name != "" {
		return r.name
	}
	return r.config.Arm.title(r.config.Net.MIL)
}

// loader is how pictures are read.
func (c *config) loader() loader.Config {
	l := loader.DefaultConfig()
	l.Fit, l.Workers, l.Prefetch = c.fit(), c.Run.Workers, c.Run.Prefetch
	l.Block, l.Window = c.Data.ShuffleBlock, c.Data.ShuffleWindow
	l.MaxBadSamples, l.MaxPixels = c.Data.MaxBadSamples, c.Data.MaxPixels
	return l
}

// page describes a run for reports.
func (o *outcome) page(c *config, name string) (*report.Run, error) {
	text, err := c.yaml()
	if err != nil {
		return nil, err
	}
	return &report.Run{
		Name: name, Dataset: string(c.Data.Set), Arm: string(o.Arm), ArmTitle: o.Arm.title(false), ArmPlace: o.Arm.place(), MIL: o.MIL, Noise: o.Noise, Flips: o.Flips, Seed: o.Seed, Start: c.startOf(o.Arm),
		Level: c.level(), PaperData: c.paperData(o), Result: o.Evaluation, ThresholdFrom: o.PlugInFrom, Audit: o.Audit, Epochs: epochsOf(o.epochs, o.Before), Config: string(text), Rates: o.Evaluation.NoiseRates(),
	}, nil
}

// startOf tells how the noise model of an arm came by its rates, on scenes, where tables have arms that
// know nothing of the noise beside ones that are told.
func (c *config) startOf(a armName) string {
	informed, settings := train.InformedNoise(), c.settings()
	switch {
	case !c.Data.scenes():
		return ""
	case a == armRN && settings.fromTraining():
		return "rates estimated"
	case (a == armFI || a == armFD) && slices.Equal(c.Train.Noise.Q01, informed.Q01) && slices.Equal(c.Train.Noise.Q10, informed.Q10):
		return "informed start"
	}
	return ""
}

// paperData tells whether the published figures may stand beside: COCO's train2014 with 1,000 words, or
// MSR-VTT with 1,087.
func (c *config) paperData(o *outcome) bool {
	if o.Evaluation == nil {
		return false
	}
	if c.Data.Set == dataMSRVTT {
		return c.Preset == presetPaperMSRVTT && o.Evaluation.Classes == msrvttWords
	}
	return c.Data.Set == dataCaptions && c.Preset == presetPaperCOCO && o.Evaluation.Classes == 1000 &&
		filepath.Base(c.Data.Captions) == "captions_train2014.json" && c.Data.ValCaptions != ""
}

// judge judges the nets of the run.
func (r *armRun) judge() *judge {
	return &judge{arm: r.config.Arm, data: r.data, loader: r.config.loader(), batch: r.config.Train.Batch(r.config.Net.MIL), log: r.session.log}
}

// prepare makes the folder of a recipe, or takes the one of the same run. The recipe is that of all arms of a group,
// and its folder has the configuration of stage 1.
func (r *armRun) prepare(dir string) error {
	first := r.config
	first.Arm = armStage1
	return prepareFolder(dir, &first)
}

// trainNet trains a net that the recipe asks for.
func (r *armRun) trainNet(ctx context.Context, t netTraining) (err error) {
	run := *r
	run.config.Arm, run.config.Train = armStage1, t.config
	run.data, run.dir, run.from, run.name, run.heading = t.data, t.dir, t.from, t.title, ""
	plan := &stagePlan{config: t.config, data: t.data, targets: t.targets}
	net, err := run.newNet(t.arm, plan)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if err := os.MkdirAll(run.dir, 0o777); err != nil {
		return err
	}
	if err := removeLeftovers(run.dir, isRunFile); err != nil {
		return err
	}
	var keeping error
	run.observers = nil
	if t.evaluated != nil {
		run.observers = []train.Observer{{Evaluated: func(e train.Evaluated) { keeping = cmp.Or(keeping, t.evaluated(&e)) }}}
	}
	_, _, err = run.learn(ctx, t.arm, net, plan, nil)
	return cmp.Or(keeping, err)
}

// score computes the logits of every bag of a set by the last checkpoint of a folder.
func (r *armRun) score(ctx context.Context, dir string, set *loader.Set) (logits []float32, err error) {
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), r.session.backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	l := r.config.loader()
	l.BatchBags = r.config.Train.Batch(r.config.Net.MIL)
	scores, err := train.Score(ctx, net, set, l)
	if err != nil {
		return nil, err
	}
	if len(scores.Bad) > 0 {
		bad := scores.Bad[0]
		return nil, fmt.Errorf("bag %s cannot be read, and every bag needs a score: take it out of the data (%w)", bad.ID, bad.Err)
	}
	return scores.Logits.Float32s(), nil
}

// watchers are the observers of the session.
func (r *armRun) watchers() []train.Observer {
	if r.session.observe.training == nil {
		return nil
	}
	return r.session.observe.training(training{title: r.title(), arm: r.config.Arm, mil: r.config.Net.MIL, noise: r.data.noise,
		seed: r.config.Train.Seed, device: r.session.backend.Name()})
}
