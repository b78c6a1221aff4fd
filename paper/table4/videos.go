package table4

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/experiment"
	"nmn/internal/durable"
	"nmn/loader"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// Piece is a part of the experiment on videos that a job of its own can do: the concepts that a net finds in every
// frame, or the captioner that learns from them.
type Piece struct {
	Seed      uint64
	Arm       recipe.Name
	Captioner bool
}

// String is the printed name of the piece.
func (p Piece) String() string {
	if p.Captioner {
		return fmt.Sprintf("captioner on %s, seed %d", p.Arm.Title(true), p.Seed)
	}
	return fmt.Sprintf("concepts of %s, seed %d", p.Arm.Title(true), p.Seed)
}

// Pieces returns the pieces of the experiment on videos. Each captioner follows its concepts.
func (e *Experiment) Pieces() (all []Piece) {
	for _, seed := range e.Seeds {
		for _, arm := range Arms() {
			all = append(all, Piece{seed, arm, false}, Piece{seed, arm, true})
		}
	}
	return all
}

// PieceFolder is the folder with the results of a piece.
func (e *Experiment) PieceFolder(p Piece) string {
	if p.Captioner {
		return e.captioner(p.Seed, string(p.Arm))
	}
	return e.features(p.Seed, string(p.Arm))
}

// Net is the run of Videos whose concepts a piece is made of.
func (e *Experiment) Net(p Piece) (*experiment.Task, error) {
	tasks, err := e.Videos.Tasks()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tasks, func(t experiment.Task) bool { return t.Arm == p.Arm && t.MIL && t.Seed == p.Seed })
	if i < 0 {
		return nil, fmt.Errorf("experiment table4: there is no run of %s with seed %d", p.Arm.Title(true), p.Seed)
	}
	return &tasks[i], nil
}

// RunPiece does a piece of the experiment on videos, after the pieces that it needs, including the net.
// Several processes can do pieces at once. A process waits if another process is already doing the piece. The
// session must have the configuration of Videos. reused reports that the piece was complete.
func (e *Experiment) RunPiece(ctx context.Context, s *run.Session, p Piece) (reused bool, err error) {
	e.defaults()
	release, err := e.takeFolder(ctx, false)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return e.piece(ctx, s, p)
}

func (e *Experiment) piece(ctx context.Context, s *run.Session, p Piece) (reused bool, err error) {
	if done, err := e.pieceDone(p); err != nil || done {
		return done, err
	}
	if p.Captioner {
		if _, err := e.piece(ctx, s, Piece{p.Seed, p.Arm, false}); err != nil {
			return false, err
		}
	} else if err := e.trainNet(ctx, s, p); err != nil {
		return false, err
	}
	release, err := experiment.Exclusively(ctx, s, e.PieceFolder(p))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if reused, err = e.pieceDone(p); err != nil || reused {
		return reused, err
	}
	if p.Captioner {
		return false, e.captionVideos(ctx, p)
	}
	return false, e.extractVideos(ctx, s, p)
}

// pieceDone is Complete, which takes away the lock of a piece that is.
func (e *Experiment) pieceDone(p Piece) (done bool, err error) {
	if done, err = e.Complete(p); done {
		_ = run.TidyLock(e.PieceFolder(p)) // what is complete needs nothing of it
	}
	return done, err
}

// trainNet trains the net of a piece, and first the run that it continues, if they are not complete.
func (e *Experiment) trainNet(ctx context.Context, s *run.Session, p Piece) error {
	net, err := e.Net(p)
	if err != nil {
		return err
	}
	if net.After >= 0 {
		if _, _, err := e.Videos.RunTask(ctx, s, net.After); err != nil {
			return err
		}
	}
	_, _, err = e.Videos.RunTask(ctx, s, net.Number)
	return err
}

// captionVideos trains the captioner of a piece, and keeps its scores.
func (e *Experiment) captionVideos(ctx context.Context, p Piece) (err error) {
	folder := e.features(p.Seed, string(p.Arm))
	written, err := e.readConcepts(p)
	if err == nil && written == nil {
		err = fmt.Errorf("%s: its concepts are gone", folder)
	}
	if err != nil {
		return err
	}
	c, err := e.videoCaptions(ctx, written.Judged)
	if err != nil {
		return err
	}
	c.rows = []row{{name: string(p.Arm), title: p.Arm.Title(true), folder: func(uint64) string { return folder }}}
	one := *e
	one.Seeds = []uint64{p.Seed}
	rows, err := one.captionAll(ctx, c)
	if err != nil {
		return err
	}
	o, err := session.ReadOutcome(e.PieceFolder(p))
	if err != nil {
		return err
	}
	return run.SaveFiles(ctx, e.Log, func() error {
		return durable.SaveJSON(filepath.Join(e.PieceFolder(p), scoresFile), scored{Net: written.Net,
			Captioner: o.Fingerprint, Split: written.Judged, Clips: len(c.captions[splitTest].IDs),
			Modules: e.Meteor.Modules(), Scores: rows[0].Scores[0], Always: rows[1]})
	})
}

// videoCaptions returns the captions of the clips of Videos. A share of the training clips ends the training
// of captioners, so that nothing is chosen by the clips in the table.
func (e *Experiment) videoCaptions(ctx context.Context, judged string) (c *clips, err error) {
	file := e.Videos.Config.Data.MSRVTT
	c = &clips{captions: map[string]*metrics.Captions{}}
	if c.captions[splitTrain], err = captioner.ReadCaptions(ctx, file, loader.TrainSplit); err != nil {
		return nil, err
	}
	of := map[string]string{splitValidation: loader.ValidationSplit, splitTest: loader.TestSplit}[judged]
	if c.captions[splitTest], err = captioner.ReadCaptions(ctx, file, of); err != nil {
		return nil, err
	}
	c.held = session.HeldOut(c.captions[splitTrain].IDs, e.Captioner.Data.ValidationShare, e.Captioner.Data.Seed)
	return c, nil
}

// runVideos does all pieces that are not complete. The session of the nets is opened for them.
func (e *Experiment) runVideos(ctx context.Context) (c *clips, rows []report.CaptionRow, err error) {
	s, err := run.Open(ctx, e.Videos.Config, run.Options{Log: e.Log, Observer: e.Observe})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, p := range e.Pieces() {
		if _, err := e.piece(ctx, s, p); err != nil {
			return nil, nil, fmt.Errorf("%v: %w", p, err)
		}
	}
	title, _, rows, err := e.Finished()
	if err == nil && rows == nil {
		err = errors.New("experiment table4: scores of captioners are gone while others were trained")
	}
	return &clips{title: title}, rows, err
}
