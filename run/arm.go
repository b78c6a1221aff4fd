package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/internal/origin"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/run/folder"
	runpage "nmn/run/page"
	"nmn/train"
)

// ArmOptions say which arm is trained, where and from what.
type ArmOptions struct {
	Arm     recipe.Name
	Dir     string         // the run folder
	From    string         // checkpoint of stage 1, for arms of stage 2
	Recipe  *recipe.Recipe // of the group of arms; nil for the paper's plain form
	Heading string         // for people, when training begins; empty for none
	// Planning keeps other processes away from the recipe of the group while the arm is planned, since planning may
	// train and write there, until the returned function is called. It is nil if no other process works on the group.
	Planning func(context.Context) (release func() error, err error)
}

// TrainArm trains one arm alone, or goes on where it was interrupted, evaluates it and writes the page of the run. A
// run that is complete already is not run again; reused says so. A folder that another process is writing is refused
// with an error that wraps ErrLocked.
func (s *Session) TrainArm(ctx context.Context, o ArmOptions) (outcome *Outcome, reused bool, err error) {
	release, err := s.Ranks.Lock(ctx, o.Dir)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return newArmRun(s, o).train(ctx)
}

// armRun is one arm that is trained in one folder.
type armRun struct {
	ArmOptions
	session *Session
	config  Config // its Arm is this one
	data    *dataset.Splits

	name    string                       // in messages; empty for that of the arm
	keep    func(*train.Evaluated) error // see train.Options
	start   *Start                       // of stage 2, once its net is there
	planned []Start                      // files of the recipe, once there is a plan
}

func newArmRun(s *Session, o ArmOptions) *armRun {
	r := &armRun{ArmOptions: o, session: s, config: s.Config, data: s.Data}
	r.config.Arm = cmp.Or(o.Arm, s.Config.Arm)
	return r
}

func (r *armRun) folder() *runFolder {
	return &runFolder{dir: r.Dir, kind: ofRun, config: &r.config, data: r.data, ranks: r.session.Ranks}
}

// train trains the arm, or goes on where it was interrupted, evaluates it and writes the page of the run. A run that is
// complete already is not run again; reused says so.
func (r *armRun) train(ctx context.Context) (o *Outcome, reused bool, err error) {
	o, identity, err := r.reuse(ctx)
	if err != nil || o != nil {
		return o, o != nil, err
	}
	arm, plan, err := r.prepare(ctx)
	if err != nil {
		return nil, false, err
	}
	var each *recipe.Judge
	if r.config.EachEpoch {
		each = r.judge()
	}
	s, err := r.openStage(ctx, arm, plan, each)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = cmp.Or(err, s.close()) }()
	reached, err := s.trainer.Run(ctx)
	curve, err := r.endStage(ctx, s, err)
	if err != nil {
		return nil, false, err
	}
	seconds := time.Since(s.began)
	judged, scores, err := r.judge().Judge(ctx, s.net, plan)
	if err != nil {
		return nil, false, err
	}
	_, split := r.data.EvaluationSplit()
	o = &Outcome{Fingerprint: identity, Arm: r.config.Arm, MIL: arm.MIL, Noise: r.data.Noise, NoiseKind: r.data.NoiseKind,
		Flips: r.data.Flips, Seed: r.config.Train.Seed, Steps: reached.Step, Loss: reached.Loss, Seconds: seconds.Seconds(),
		Split: split, Judgement: *judged, Threshold: plan.Threshold, Before: plan.Stage1Epochs, Build: ThisBuild(),
		Start: r.start, Recipe: r.planned, LeftOut: r.data.DescribeLeftOut(), Backbone: r.session.Backbone}
	if r.config.EachEpoch {
		if o.epochs, err = ReadEpochs(r.Dir); err != nil {
			return nil, false, err
		}
	}
	ranks := r.session.Ranks
	if ranks.leads() {
		err = r.writePage(ctx, o, curve, scores)
	}
	if err := ranks.agree(err); err != nil {
		return nil, false, err
	}
	return o, false, ranks.Save(ctx, func() error { return o.write(r.Dir) })
}

// prepare makes the folder of the run, and finds what the arm is trained with.
func (r *armRun) prepare(ctx context.Context) (arm train.Arm, plan *recipe.Plan, err error) {
	if err := r.folder().prepare(ctx); err != nil {
		return arm, nil, err
	}
	err = r.session.Ranks.Save(ctx, func() error {
		if err := r.data.Train.Vocabulary.WriteFile(filepath.Join(r.Dir, VocabularyFile)); err != nil {
			return err
		}
		return r.data.WriteFlips(r.Dir)
	})
	if err == nil {
		arm, err = r.config.Arm.ForTraining(r.config.Net.MIL)
	}
	if err != nil {
		return arm, nil, err
	}
	if r.Heading != "" {
		r.session.Notify(Message{Text: r.Heading})
	}
	if plan, err = r.plan(ctx); err == nil && plan.Evidence != nil { // which includes the noise already
		arm.Noise = model.NoNoise
	}
	return arm, plan, err
}

// finished reads the outcome of the run, where it is complete, with what identifies it.
func (r *armRun) finished(ctx context.Context) (o *Outcome, identity string, err error) {
	if identity, err = fingerprint(ctx, &r.config, r.data, r.From); err != nil {
		return nil, "", err
	}
	o, err = ReadOutcome(r.Dir)
	if err != nil || o == nil || o.Fingerprint != identity || !reaches(r.Dir, o.Steps) {
		return nil, identity, err
	}
	starts := []*Start{o.Start}
	for i := range o.Recipe {
		starts = append(starts, &o.Recipe[i])
	}
	for _, start := range starts {
		if same, err := start.same(ctx, r.Dir, r.data); err != nil || !same {
			return nil, identity, err
		}
	}
	return o, identity, nil
}

// FinishedArm reads the outcome of an arm without training it and without writing anything; nil where it is not
// complete.
func (s *Session) FinishedArm(ctx context.Context, a ArmOptions) (*Outcome, error) {
	r := newArmRun(s, a)
	if a.From != "" && !durable.Exists(a.From) {
		return nil, nil
	}
	o, _, err := r.finished(ctx)
	if err != nil || o == nil {
		return nil, err
	}
	if _, err := r.folder().sameData(ctx); err != nil {
		return nil, err
	}
	if r.config.EachEpoch {
		o.epochs, err = ReadEpochs(r.Dir)
	}
	return o, err
}

// reuse returns the outcome of the run if it is complete, with what identifies it, else nil. It refuses a run that
// began with other files than there are now.
func (r *armRun) reuse(ctx context.Context) (o *Outcome, identity string, err error) {
	ranks := r.session.Ranks
	o, identity, err = r.finished(ctx)
	if err := ranks.agree(err); err != nil {
		return nil, "", err
	}
	complete, err := fromRank0(ranks, o != nil)
	if err == nil && complete != (o != nil) {
		err = fmt.Errorf("%s: this rank sees another state of the folder than rank 0: start the command again", r.Dir)
	}
	if err := ranks.agree(err); err != nil || !complete {
		return nil, identity, err
	}
	files, err := r.folder().sameData(ctx)
	if err == nil && r.config.EachEpoch {
		o.epochs, err = ReadEpochs(r.Dir)
	}
	if err := ranks.agree(err); err != nil {
		return nil, "", err
	}
	return o, identity, ranks.Save(ctx, func() error {
		return errors.Join(folder.KeepData(r.Dir, files), r.config.keepPlaces(r.Dir))
	})
}

// reaches reports whether the last checkpoint of a folder has reached the step of its result. It has not if the user
// has replaced a damaged checkpoint by the one before. A result whose checkpoint is gone stays a result.
func reaches(dir string, steps int) bool {
	last, err := train.ReadCheckpoint(filepath.Join(dir, train.LastName))
	return err != nil || last.Position.Step >= steps
}

// writePage writes the page of the run, and notes in the outcome what an experiment shows of it.
func (r *armRun) writePage(ctx context.Context, o *Outcome, curve []report.Point, scores *train.Scores) error {
	page, err := o.Report(&r.config, filepath.Base(r.Dir))
	if err != nil {
		return err
	}
	set, split := r.data.EvaluationSplit()
	page.Curve, page.Duration = curve, time.Duration(o.Seconds*float64(time.Second))
	if page.Scored, err = runpage.Scores(ctx, scores, set, split, r.config.Exclusive()); err != nil {
		return err
	}
	if o.NotMeasured != "" && page.Scored != nil { // a curve is a measure, too
		page.Scored.Curves = eval.ByGroup[[]eval.CurvePoint]{}
	}
	if page.Compared, err = r.nextToStage1(ctx, page, set); err != nil {
		return err
	}
	o.shown = page.Scored
	return SaveFiles(ctx, r.session.Log, func() error { return report.WriteRun(r.Dir, page) })
}

// nextToStage1 compares an arm of stage 2 with the net that it started from. It returns nil if the predictions
// of that net for the same bags are not known.
func (r *armRun) nextToStage1(ctx context.Context, page *report.Run, set *loader.Set) (*report.Comparison, error) {
	if r.From == "" || page.Scored == nil {
		return nil, nil
	}
	first, err := ReadShown(filepath.Dir(r.From))
	if err != nil || first == nil {
		return nil, err
	}
	var both runpage.SideBySide
	both.Add(&report.Run{Arm: report.Stage1, ArmTitle: recipe.Stage1.Title(false), MIL: page.MIL,
		PaperData: page.PaperData}, first)
	both.Add(page, page.Scored)
	c := both.Comparison("Next to the net that it started from", runpage.NewPictures(ctx, set))
	if len(c.Arms) < 2 {
		return nil, nil
	}
	return &c, ctx.Err()
}

// plan finds what the arm is trained with, alone in its group, and notes the files of the recipe that say so.
func (r *armRun) plan(ctx context.Context) (p *recipe.Plan, err error) {
	if r.Planning != nil && r.Recipe != nil {
		release, err := r.Planning(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	settings := r.config.Settings()
	if p, err = recipe.MakePlan(ctx, &settings, r.Recipe, r, r.data, r.Dir, r.From); err != nil || r.Recipe == nil {
		return p, err
	}
	r.planned, err = r.recipeFiles(ctx, p.Files)
	return p, r.session.Ranks.agree(err)
}

// recipeFiles are files in the folder of the recipe as they are.
func (r *armRun) recipeFiles(ctx context.Context, names []string) (files []Start, err error) {
	var places []origin.Place
	for _, name := range names {
		places = append(places, origin.Place{Name: name, Path: filepath.Join(r.Recipe.Dir, name)})
	}
	found, err := r.data.Beside(ctx, places)
	for _, f := range found {
		files = append(files, *startOf(r.Dir, f.Path, f.Digest))
	}
	return files, err
}
