package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/internal/durable"
	"nmn/run"
	"nmn/run/folder"
	"nmn/telemetry"
	"nmn/train"
)

// Train is Run with a message if nothing was left to train.
func (s *Session) Train(ctx context.Context, dir string) (*Outcome, error) {
	o, reused, err := s.Run(ctx, dir)
	if err == nil && reused {
		s.Observe.Notify(run.Reused(dir))
	}
	return o, err
}

// Run trains the captioner in a folder, or continues after an interruption. A complete run is read and not
// repeated, and reused reports that. A folder of another run is refused with a *setting.Error that names the
// difference, unless Options.Restart removes that run. A folder that another process is writing is refused
// with an error that wraps run.ErrLocked. If the context ends, finished work has been saved, and the error
// wraps run.ErrInterrupted.
func (s *Session) Run(ctx context.Context, dir string) (o *Outcome, reused bool, err error) {
	identity, err := s.fingerprint()
	if err != nil {
		return nil, false, err
	}
	release, err := run.LockFolder(ctx, dir, s.Log)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if s.restart {
		if err := run.SaveFiles(ctx, s.Log, func() error { return clearFolder(dir) }); err != nil {
			return nil, false, err
		}
	}
	if o, err = s.finished(ctx, dir, identity); err != nil || o != nil {
		return o, o != nil, err
	}
	if err := s.prepare(ctx, dir); err != nil {
		return nil, false, err
	}
	net, err := s.newNet()
	if err != nil {
		return nil, false, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if o, err = s.trainStage(ctx, net, dir); err != nil {
		return nil, false, err
	}
	o.Fingerprint, o.Build = identity, run.ThisBuild()
	return o, false, s.finish(ctx, o, dir)
}

// finished is the outcome of a run that is complete, unless it began with other files than there are now; nil for one
// that is not.
func (s *Session) finished(ctx context.Context, dir, identity string) (*Outcome, error) {
	o, err := ReadOutcome(dir)
	if err != nil || o == nil || o.Fingerprint != identity || !reaches(dir, o.Steps) {
		return nil, err
	}
	files, err := s.sameData(ctx, dir)
	if err != nil {
		return nil, err
	}
	return o, run.SaveFiles(ctx, s.Log, func() error {
		return errors.Join(folder.KeepData(dir, files), s.Config.keepPlaces(dir))
	})
}

// reaches reports whether the last checkpoint of a folder is at least as late as its result. It is earlier if
// a damaged checkpoint was replaced by the previous one. A result without a checkpoint stays valid.
func reaches(dir string, steps int) bool {
	last, err := captioner.ReadCheckpoint(filepath.Join(dir, train.LastName))
	return err != nil || last.Position.Step >= steps
}

// trainStage trains to the end, from the last checkpoint of the folder if it has one.
func (s *Session) trainStage(ctx context.Context, net *s2vt.Net, dir string) (o *Outcome, err error) {
	trainer, err := captioner.New(s.trainerOptions(net, dir))
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	step, last := -1, filepath.Join(dir, train.LastName)
	if durable.Exists(last) {
		if err := trainer.Resume(last); err != nil {
			return nil, err
		}
		step = trainer.Position().Step
		s.Log.Info("resumed", "dir", dir, "step", step)
		s.Observe.Notify(run.Message{Text: fmt.Sprintf("%s: going on from step %d of %d", s.Title, step, trainer.Steps())})
	}
	var log *telemetry.Log
	err = run.SaveFiles(ctx, s.Log, func() (err error) {
		log, err = run.OpenLog(dir, step, &s.Config)
		return err
	})
	if err != nil {
		return nil, err
	}
	if n := log.Broken(); n > 0 {
		s.Log.Warn("broken lines of the log were left out", "dir", dir, "count", n)
	}
	watching := s.Observe.Begin(run.Training{Title: s.Title, Seed: s.Config.Train.Seed, Device: s.Backend.Name()})
	trainer.Observers = append([]captioner.Observer{LogTo(log.Logger())}, watching...)
	began := time.Now()
	err = trainer.Run(ctx)
	s.Observe.End()
	missing := run.SaveFiles(context.WithoutCancel(ctx), s.Log, log.Flush)
	if err = cmp.Or(err, log.Close(), missing); err != nil {
		return nil, run.Interrupted(err)
	}
	loss, err := run.EpochLoss(dir) // a run that was killed after its last epoch reports none when it goes on
	if err != nil {
		return nil, err
	}
	reached := trainer.Position()
	return &Outcome{Epochs: reached.Epoch - 1, Steps: reached.Step,
		Loss: loss, Seconds: time.Since(began).Seconds(),
		Words: s.Data.Words.AtLeast(0), Clips: s.Data.Train.Clips(), Captions: s.Data.Train.Pairs()}, nil
}

// finish scores the best checkpoint and writes the result, which comes last.
func (s *Session) finish(ctx context.Context, o *Outcome, dir string) error {
	o.Checkpoint = train.LastName
	if s.Data.Validation != nil && durable.Exists(filepath.Join(dir, train.BestName)) {
		o.Checkpoint = train.BestName
	}
	if s.Data.Validation != nil {
		scores, err := s.scoreCheckpoint(ctx, filepath.Join(dir, o.Checkpoint))
		if err != nil {
			return err
		}
		o.Validation = &scores
	}
	return run.SaveFiles(ctx, s.Log, func() error { return durable.SaveJSON(filepath.Join(dir, run.ResultFile), o) })
}

// scoreCheckpoint judges a checkpoint by the validation clips.
func (s *Session) scoreCheckpoint(ctx context.Context, checkpoint string) (scores metrics.Scores, err error) {
	net, _, err := captioner.OpenNet(checkpoint, s.Backend)
	if err != nil {
		return scores, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return s.score(ctx, net)
}
