package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"nmn/internal/durable"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// stage is one stage of training in the folder of a run.
type stage struct {
	arm     train.Arm
	from    string // checkpoint that it starts from; empty for none
	net     *model.Net
	trainer *train.Trainer // nil after its end
	records []record       // none on ranks that do not lead
	epochs  *epochRecord   // one of them; nil for none
	began   time.Time
}

// openStage makes the net of the arm and its trainer, which goes on from the last checkpoint of the folder if there is
// one. each judges the net after each epoch; nil for none. Close the stage.
func (r *armRun) openStage(ctx context.Context, arm train.Arm, plan *recipe.Plan, each *recipe.Judge) (_ *stage,
	err error) {
	ranks, last := r.session.Ranks, filepath.Join(r.Dir, train.LastName)
	resumed, err := fromRank0(ranks, durable.Exists(last))
	if err != nil {
		return nil, err
	}
	s := &stage{arm: arm, from: cmp.Or(plan.From, r.From)}
	nets := nets{config: r.config, data: r.data, backend: r.session.Backend, weights: r.session.weights}
	var digest string // a checkpoint to resume has all weights
	s.net, digest, err = nets.open(arm, plan.Config, plan.Data.Train, s.from, arm.Stage == 1 && !resumed)
	if err := ranks.agree(err); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = cmp.Or(err, s.close())
		}
	}()
	s.began, r.start = time.Now(), startOf(r.Dir, s.from, digest)
	l := r.config.Loader()
	l.Targets, l.Evidence = plan.Targets, plan.Evidence
	options := train.Options{
		Config: plan.Config, Stage: arm.Stage, Net: s.net, Start: began(r.start, r.planned), Data: plan.Data.Train,
		Validation: plan.Data.Validation,
		Loader:     l, Directory: r.Dir, Online: plan.Online, Keep: r.keep, Group: ranks.group,
		Backbone: r.session.Backbone, Clips: r.clips(),
		Wire: r.config.Run.wire(),
	}
	if each != nil {
		options.AfterEpoch = func(ctx context.Context, at train.Position) error {
			judged, _, err := each.Judge(ctx, s.net, plan)
			if err != nil {
				return fmt.Errorf("cannot evaluate after epoch %d: %w", at.Epoch, err)
			}
			return s.epochs.put(at, judged)
		}
	}
	if s.trainer, err = train.New(options); err != nil {
		return nil, err
	}
	step := -1
	if resumed {
		if err := s.trainer.Resume(last); err != nil {
			return nil, err
		}
		step = s.trainer.Position().Step
		r.session.Log.Info("resumed", "dir", r.Dir, "step", step)
		r.session.Notify(Message{Text: fmt.Sprintf("%s: going on from step %d of %d", r.title(), step, s.trainer.Steps())})
	}
	broken := 0
	err = ranks.Save(ctx, func() (err error) {
		if each != nil {
			if s.epochs, err = openEpochs(r.Dir, step); err != nil {
				return err
			}
		}
		s.records, broken, err = openRecords(r.Dir, step, &r.config, r.data.Validation)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.warnBroken(broken)
	if s.epochs != nil {
		s.records = append(s.records, s.epochs)
	}
	for _, record := range s.records {
		s.trainer.Observers = append(s.trainer.Observers, record.Observer())
	}
	s.trainer.Observers = append(s.trainer.Observers, r.session.Observe.Begin(Training{Title: r.title(),
		Arm: r.config.Arm, MIL: r.config.Net.MIL, Noise: r.data.Noise, Seed: r.config.Train.Seed,
		Device: r.session.Backend.Name()})...)
	return s, nil
}

// endStage writes what is missing in the folder after the trainer has ended with an error or without, and frees the
// trainer. Rank 0 gets the curve of the run.
func (r *armRun) endStage(ctx context.Context, s *stage, err error) ([]report.Point, error) {
	r.session.Observe.End()
	missing := SaveFiles(context.WithoutCancel(ctx), r.session.Log, func() error { return s.eachRecord(record.Flush) })
	if err = cmp.Or(err, s.eachRecord(record.Close), missing, s.closeTrainer()); err != nil {
		return nil, Interrupted(err)
	}
	if !r.session.Ranks.leads() { // which has no page to draw it on
		return nil, nil
	}
	curve, broken, err := ReadCurve(filepath.Join(r.Dir, LogFile), s.arm.Name)
	r.warnBroken(broken)
	if s.arm.Stage == 2 && s.from != "" && r.config.Arm != recipe.EM { // the net of EM is that of its last round
		curve = afterStage1(filepath.Dir(s.from), curve)
	}
	return curve, err
}

// eachRecord calls f for all records, and returns the first error.
func (s *stage) eachRecord(f func(record) error) (err error) {
	for _, r := range s.records {
		err = cmp.Or(err, f(r))
	}
	return err
}

func (s *stage) closeTrainer() error {
	if s.trainer == nil {
		return nil
	}
	trainer := s.trainer
	s.trainer = nil
	return trainer.Close()
}

func (s *stage) close() error { return cmp.Or(s.closeTrainer(), s.net.Close()) }

// clips says what the clips of the data are to the nets of the run; nil for pictures.
func (r *armRun) clips() *train.Clips {
	t := r.session.Data.Taking
	if t == nil {
		return nil
	}
	return &train.Clips{ByFrame: r.config.ByFrame(), Frames: t.Frames, Size: t.Size, Quality: t.Quality}
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

func (r *armRun) warnBroken(lines int) {
	if lines > 0 {
		r.session.Log.Warn("broken lines of the log were left out", "dir", r.Dir, "count", lines)
	}
}

func (r *armRun) title() string {
	if r.name != "" {
		return r.name
	}
	return r.config.Arm.Title(r.config.Net.MIL)
}
