package table4

import (
	"context"
	"errors"
	"fmt"
	"os"
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
		return nil, fmt.Errorf("table 4: there is no run of %s with seed %d", p.Arm.Title(true), p.Seed)
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
		err = errors.New("table 4: scores of captioners are gone while others were trained")
	}
	return &clips{title: title}, rows, err
}

// extractVideos writes the concepts of a net for every frame of the training clips and of the clips in the
// table, as nmn extract does. A split that is already written is left as it is.
func (e *Experiment) extractVideos(ctx context.Context, s *run.Session, p Piece) (err error) {
	net, err := e.Net(p)
	if err != nil {
		return err
	}
	judged, name := s.Data.EvaluationSplit()
	folder, written := e.features(p.Seed, string(p.Arm)), &concepts{Judged: name}
	there, err := e.readConcepts(p)
	if err != nil {
		return err
	}
	if there != nil && there.Judged == name {
		written = there
	} else {
		if written.Net, err = e.netFingerprint(p); err != nil {
			return err
		}
		if err := s.Ranks.Save(ctx, func() error { return os.MkdirAll(folder, 0o777) }); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		split string
		set   *loader.Set
	}{{splitTrain, s.Data.Train}, {splitTest, judged}} {
		if slices.Contains(written.Splits, of.split) {
			continue
		}
		if err := e.extractSplit(ctx, s, net.Dir, of.set, filepath.Join(folder, of.split)); err != nil {
			return err
		}
		written.Splits = append(written.Splits, of.split)
		err := s.Ranks.Save(ctx, func() error { return durable.SaveJSON(filepath.Join(folder, conceptsFile), written) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Files of pieces, written last, by which they are known to be complete.
const (
	conceptsFile = "concepts.json"
	scoresFile   = "scores.json"
)

// concepts is what conceptsFile holds.
type concepts struct {
	Net    string   `json:"net"`    // fingerprint of the run
	Judged string   `json:"judged"` // split of the data that the table scores
	Splits []string `json:"splits"` // that are written
}

// scored is what scoresFile holds.
type scored struct {
	Net       string            `json:"net"`       // fingerprint of the run with the concepts
	Captioner string            `json:"captioner"` // fingerprint
	Split     string            `json:"split"`     // that was scored
	Clips     int               `json:"clips"`     // of it
	Modules   string            `json:"meteor"`    // modules of METEOR
	Scores    metrics.Scores    `json:"scores"`
	Always    report.CaptionRow `json:"always"` // what the most frequent caption scores
}

// Complete reports whether a piece is complete, by the files in its folder. Files of another net or captioner
// do not count.
func (e *Experiment) Complete(p Piece) (bool, error) {
	if p.Captioner {
		s, err := e.readScores(p)
		return s != nil, err
	}
	c, err := e.readConcepts(p)
	return c != nil && len(c.Splits) == 2, err
}

// readConcepts reads the description of the concepts of a piece. It returns nil if there is none, or if it
// belongs to another net.
func (e *Experiment) readConcepts(p Piece) (*concepts, error) {
	p.Captioner = false
	net, err := e.netFingerprint(p)
	if err != nil || net == "" {
		return nil, err
	}
	c, err := durable.LoadJSON[concepts](filepath.Join(e.PieceFolder(p), conceptsFile),
		"remove the file to have the concepts written again")
	if err != nil || c == nil || c.Net != net {
		return nil, err
	}
	return c, nil
}

// readScores reads the scores of a captioner. It returns nil if they are missing or belong to another captioner.
func (e *Experiment) readScores(p Piece) (*scored, error) {
	net, err := e.netFingerprint(p)
	if err != nil || net == "" {
		return nil, err
	}
	folder := e.PieceFolder(p)
	s, err := durable.LoadJSON[scored](filepath.Join(folder, scoresFile), "remove the file to score the captioner again")
	if err != nil || s == nil || s.Net != net || len(s.Always.Scores) != 1 {
		return nil, err
	}
	o, err := session.ReadOutcome(folder)
	if err != nil || o == nil || o.Fingerprint != s.Captioner {
		return nil, err
	}
	return s, nil
}

// netFingerprint is the fingerprint of the run of a piece, or "" if it is not complete.
func (e *Experiment) netFingerprint(p Piece) (string, error) {
	net, err := e.Net(p)
	if err != nil {
		return "", err
	}
	o, err := run.ReadOutcome(net.Dir)
	if err != nil || o == nil {
		return "", err
	}
	return o.Fingerprint, nil
}

// Finished reads the table of an experiment on videos: the name of its clips, the modules of METEOR, and the
// rows as in Rows. Rows are nil if a captioner is not complete.
func (e *Experiment) Finished() (title, modules string, rows []report.CaptionRow, err error) {
	var always report.CaptionRow
	for _, arm := range Arms() {
		r := report.CaptionRow{Name: arm.Title(true)}
		for _, seed := range e.Seeds {
			s, err := e.readScores(Piece{seed, arm, true})
			if err != nil || s == nil {
				return "", "", nil, err
			}
			r.Scores, always, modules = append(r.Scores, s.Scores), s.Always, s.Modules
			title = fmt.Sprintf("%d %s clips of MSR-VTT", s.Clips, s.Split)
		}
		rows = append(rows, r)
	}
	return title, modules, append(rows, always), nil
}
