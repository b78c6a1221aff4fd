package run

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
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// ArmOptions say which arm is trained, where and from what.
type ArmOptions struct {
	Arm     recipe.Name
	Dir     string         // the run folder
	From    string         // checkpoint of stage 1, for arms of stage 2
	Recipe  *recipe.Recipe // of the group of arms; nil for the paper's plain form
	Heading string         // for people, when training begins; empty for none
}

// TrainArm trains one arm alone, or goes on where it was interrupted, evaluates it and writes the page of the run. A run
// that is complete already is not run again; reused says so.
func (s *Session) TrainArm(ctx context.Context, o ArmOptions) (outcome *Outcome, reused bool, err error) {
	return s.arm(o).run(ctx)
}

func (s *Session) arm(o ArmOptions) *armRun {
	r := &armRun{session: s, config: s.Config, data: s.Data, dir: o.Dir, from: o.From, heading: o.Heading, recipe: o.Recipe}
	r.config.Arm = cmp.Or(o.Arm, s.Config.Arm)
	return r
}

// armRun is one arm that is trained in one folder.
type armRun struct {
	session *Session
	config  Config // its Arm is this one
	data    *dataset.Splits
	dir     string
	from    string // checkpoint of stage 1, for arms of stage 2
	heading string // for people, when training begins; empty for none

	recipe    *recipe.Recipe   // nil for the paper's plain form
	name      string           // in messages; empty for that of the arm
	observers []train.Observer // beside those that keep records and watch
}

// run trains the arm, or goes on where it was interrupted, evaluates it and writes the page of the run. A run that is
// complete already is not run again; reused says so.
func (r *armRun) run(ctx context.Context) (o *Outcome, reused bool, err error) {
	identity, err := fingerprint(ctx, &r.config, r.data, r.from)
	if err != nil {
		return nil, false, err
	}
	if o, err = ReadOutcome(r.dir); err != nil {
		return nil, false, err
	}
	if o != nil && o.Fingerprint == identity {
		if r.config.EachEpoch {
			o.epochs, err = ReadEpochs(r.dir)
		}
		return o, true, err
	}
	if err := PrepareFolder(r.dir, &r.config); err != nil {
		return nil, false, err
	}
	if err := r.data.Train.Vocabulary.WriteFile(filepath.Join(r.dir, VocabularyFile)); err != nil {
		return nil, false, err
	}
	if err := r.data.WriteFlips(r.dir); err != nil {
		return nil, false, err
	}
	if o, err = r.train(ctx); err != nil {
		return nil, false, err
	}
	o.Fingerprint = identity
	return o, false, o.write(r.dir)
}

// train runs the stage of the arm to its end and evaluates it.
func (r *armRun) train(ctx context.Context) (o *Outcome, err error) {
	arm, err := r.config.Arm.TrainArm(r.config.Net.MIL)
	if err != nil {
		return nil, err
	}
	if r.heading != "" {
		r.session.Tell(Message{Text: r.heading})
	}
	settings := r.config.Settings()
	plan, err := recipe.MakePlan(ctx, &settings, r.recipe, r, r.data, r.dir, r.from)
	if err != nil {
		return nil, err
	}
	net, err := r.newNet(arm, plan)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	j := r.judge()
	var eachEpoch func(context.Context) (*recipe.Judgement, error)
	if r.config.EachEpoch {
		eachEpoch = func(ctx context.Context) (*recipe.Judgement, error) {
			judged, _, err := j.Judge(ctx, net, plan)
			return judged, err
		}
	}
	began := time.Now()
	reached, curve, err := r.learn(ctx, arm, net, plan, eachEpoch)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began)
	judged, scores, err := j.Judge(ctx, net, plan)
	if err != nil {
		return nil, err
	}
	set, split := r.data.Judged()
	o = &Outcome{Arm: r.config.Arm, MIL: arm.MIL, Noise: r.data.Noise, Flips: r.data.Flips, Seed: r.config.Train.Seed, Steps: reached.Step,
		Loss: reached.Loss, Seconds: seconds.Seconds(), Split: split, Judgement: *judged,
		Threshold: plan.Threshold, Before: plan.Stage1Epochs, Build: ThisBuild()}
	if r.config.EachEpoch {
		if o.epochs, err = ReadEpochs(r.dir); err != nil {
			return nil, err
		}
	}
	page, err := o.Report(&r.config, filepath.Base(r.dir))
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

func (r *armRun) newNet(arm train.Arm, p *recipe.Plan) (*model.Net, error) {
	classes := r.data.Train.Vocabulary.Len()
	from := r.from
	if p.From != "" {
		from = p.From
	}
	net, err := arm.NewNet(r.config.Net.Model(classes, r.data.Width(), model.NoNoise), r.session.Backend, p.Config, p.Data.Train, from)
	resumed := durable.Exists(filepath.Join(r.dir, train.LastName)) // and has all weights then
	if err != nil || r.config.Net.Weights == "" || arm.Stage == 2 || resumed {
		return net, err
	}
	if err := r.session.LoadWeights(net, &r.config.Net, r.data.Train.Vocabulary); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return net, nil
}

// learn runs the stage, from the last checkpoint of the folder where there is one.
func (r *armRun) learn(ctx context.Context, arm train.Arm, net *model.Net, plan *recipe.Plan, eachEpoch func(context.Context) (*recipe.Judgement, error)) (reached train.Result, curve []report.Point, err error) {
	l := r.config.Loader()
	l.Targets = plan.Targets
	var epochs *epochRecord
	options := train.Options{
		Config: plan.Config, Stage: arm.Stage, Net: net, Data: plan.Data.Train, Validation: plan.Data.Validation,
		Loader: l, Directory: r.dir, Online: plan.Online,
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
		r.session.Log.Info("resumed", "dir", r.dir, "step", step)
	}
	if eachEpoch != nil {
		if epochs, err = openEpochs(r.dir, step); err != nil {
			return reached, nil, err
		}
	}
	records, err := openRecords(r.dir, step, &r.config, r.data.Validation)
	if err != nil {
		return reached, nil, err
	}
	trainer.Observers = slices.Concat(records.observers(), r.watchers(), r.observers)
	reached, err = trainer.Run(ctx)
	if trained := r.session.Observe.Trained; trained != nil {
		trained()
	}
	if err = cmp.Or(err, records.close()); err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		return reached, nil, err
	}
	curve, err = ReadCurve(filepath.Join(r.dir, LogFile), arm.Name)
	return reached, curve, err
}

// title names the arm in progress.
func (r *armRun) title() string {
	if r.name != "" {
		return r.name
	}
	return r.config.Arm.Title(r.config.Net.MIL)
}

// Loader is how pictures are read.
func (c *Config) Loader() loader.Config {
	l := loader.DefaultConfig()
	l.Fit, l.Workers, l.Prefetch = c.Fit(), c.Run.Workers, c.Run.Prefetch
	l.Block, l.Window = c.Data.ShuffleBlock, c.Data.ShuffleWindow
	l.MaxBadSamples, l.MaxPixels = c.Data.MaxBadSamples, c.Data.MaxPixels
	return l
}

// Report describes a run for reports.
func (o *Outcome) Report(c *Config, name string) (*report.Run, error) {
	text, err := c.YAML()
	if err != nil {
		return nil, err
	}
	return &report.Run{
		Name: name, Dataset: string(c.Data.Set), Arm: string(o.Arm), ArmTitle: o.Arm.Title(false), ArmPlace: o.Arm.Place(), MIL: o.MIL, Noise: o.Noise, Flips: o.Flips, Seed: o.Seed, Start: c.startOf(o.Arm),
		Level: c.level(), PaperData: c.paperData(o), Result: o.Evaluation, ThresholdFrom: o.PlugInFrom, Audit: o.Audit, Epochs: epochsOf(o.epochs, o.Before), Config: string(text), Rates: o.Evaluation.NoiseRates(),
	}, nil
}

// startOf tells how the noise model of an arm came by its rates, on scenes, where tables have arms that
// know nothing of the noise beside ones that are told.
func (c *Config) startOf(a recipe.Name) string {
	informed, settings := train.InformedNoise(), c.Settings()
	switch {
	case !c.Data.Embedded():
		return ""
	case a == recipe.RN && settings.FromTraining():
		return "rates estimated"
	case (a == recipe.FI || a == recipe.FD) && slices.Equal(c.Train.Noise.Q01, informed.Q01) && slices.Equal(c.Train.Noise.Q10, informed.Q10):
		return "informed start"
	}
	return ""
}

// paperData tells whether the published figures may stand beside: COCO's train2014 with 1,000 words, or
// MSR-VTT with 1,087.
func (c *Config) paperData(o *Outcome) bool {
	if o.Evaluation == nil {
		return false
	}
	if c.Data.Set == dataset.MSRVTT {
		return c.Preset == PaperMSRVTTPreset && o.Evaluation.Classes == dataset.MSRVTTWords
	}
	return c.Data.Set == dataset.Captions && c.Preset == PaperCOCOPreset && o.Evaluation.Classes == 1000 &&
		filepath.Base(c.Data.Captions) == "captions_train2014.json" && c.Data.ValCaptions != ""
}

// judge judges the nets of the run.
func (r *armRun) judge() *recipe.Judge {
	return &recipe.Judge{Arm: r.config.Arm, Data: r.data, Loader: r.config.Loader(), Batch: r.config.Train.Batch(r.config.Net.MIL), Log: r.session.Log}
}

// Prepare makes the folder of a recipe, or takes the one of the same run. The recipe is that of all arms of a group,
// and its folder has the configuration of stage 1.
func (r *armRun) Prepare(dir string) error {
	first := r.config
	first.Arm = recipe.Stage1
	return PrepareFolder(dir, &first)
}

// TrainNet trains a net that the recipe asks for.
func (r *armRun) TrainNet(ctx context.Context, t recipe.Training) (err error) {
	run := *r
	run.config.Arm, run.config.Train = recipe.Stage1, t.Config
	run.data, run.dir, run.from, run.name, run.heading = t.Data, t.Dir, t.From, t.Title, ""
	plan := &recipe.Plan{Config: t.Config, Data: t.Data, Targets: t.Targets}
	net, err := run.newNet(t.Arm, plan)
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
	if t.Evaluated != nil {
		run.observers = []train.Observer{{Evaluated: func(e train.Evaluated) { keeping = cmp.Or(keeping, t.Evaluated(&e)) }}}
	}
	_, _, err = run.learn(ctx, t.Arm, net, plan, nil)
	return cmp.Or(keeping, err)
}

// Score computes the logits of every bag of a set by the last checkpoint of a folder.
func (r *armRun) Score(ctx context.Context, dir string, set *loader.Set) (logits []float32, err error) {
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), r.session.Backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	l := r.config.Loader()
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
	if r.session.Observe.Training == nil {
		return nil
	}
	return r.session.Observe.Training(Training{Title: r.title(), Arm: r.config.Arm, MIL: r.config.Net.MIL, Noise: r.data.Noise,
		Seed: r.config.Train.Seed, Device: r.session.Backend.Name()})
}
