package paper

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"nmn/captioner/metrics"
	"nmn/experiment"
	"nmn/internal/durable"
	"nmn/paper/table4"
	"nmn/report"
	"nmn/run"
)

// captionScores are the rows of Table 4 as they are kept in the folder of the captioners on moving scenes, written
// last.
type captionScores struct {
	Title   string              `json:"title"`
	Modules string              `json:"meteor"` // of METEOR
	Rows    []report.CaptionRow `json:"rows"`
	Seconds float64             `json:"seconds"`
}

// scoresFile is the file of the folder of captioners on moving scenes with their scores for each seed.
const scoresFile = "scores.json"

// addCaptions plans the captioners of Table 4: on moving scenes, or on MSR-VTT and the concepts of the nets of Table 3.
func (p *Plan) addCaptions(part Part, of source) error {
	e := table4.New(filepath.Join(p.Settings.Dir, of.name+"-captions"))
	e.Seeds, e.Captioner, e.Nets.Run = p.Settings.Seeds, p.Settings.captioners(), p.Settings.Run
	e.Nets.Recipe = p.Settings.form()
	switch {
	case p.Settings.real():
		n := need{levels: []float64{0}, arms: table4.Arms(), mil: experiment.WithMIL}
		if err := p.addGrid(part, of, n); err != nil {
			return err
		}
		nets := *p.Units[len(p.Units)-1].Grid
		e.Videos = &nets
	case p.Settings.Size == Smoke:
		d := &e.Nets.Data
		d.TrainSize, d.ValidationSize, d.TestSize, d.Frames, e.PerClip = 16, 4, 8, 3, 5
		smoke(&e.Nets)
	case p.Settings.Size == Full:
		e.Nets.Data.TrainSize, e.Nets.Data.TestSize = 1000, 300
		e.Nets.Train.Stage1Epochs, e.Nets.Train.Stage2Epochs = 20, 6
	}
	if err := e.Validate(); err != nil {
		return err
	}
	p.Units = append(p.Units, Unit{Title: "captioners on " + of.name, Data: of.name, Folder: filepath.Base(e.Dir),
		Captions: e, parts: []Part{part}})
	return nil
}

// nets is the configuration of the nets whose concepts captioners learn from.
func (u *Unit) nets() *run.Config {
	if v := u.Captions.Videos; v != nil {
		return &v.Config
	}
	return &u.Captions.Nets
}

// noise is the share of replaced captions of those nets.
func (u *Unit) noise() float64 {
	if v := u.Captions.Videos; v != nil {
		return v.ReplaceCaptions[0]
	}
	return u.Captions.Nets.Data.Noise
}

func (p *Plan) trainCaptions(ctx context.Context, o *Options, u *Unit) (*foundUnit, error) {
	if unit, err := p.readCaptions(u); err != nil || unit != nil && unit.missing == 0 {
		return unit, err
	}
	e := p.observed(o, u)
	if _, err := e.Run(ctx); err != nil {
		return nil, err
	}
	if e.Videos == nil {
		scores := captionScores{Title: fmt.Sprintf("Captions of %d moving scenes", e.Nets.Data.TestSize),
			Modules: e.Meteor.Modules(), Rows: e.Rows()}
		err := run.SaveFiles(ctx, o.log(), func() error {
			return durable.SaveJSON(filepath.Join(p.folder(u), scoresFile), scores)
		})
		if err != nil {
			return nil, err
		}
	}
	return p.readCaptions(u)
}

// observed is the experiment of captioners with its observers.
func (p *Plan) observed(o *Options, u *Unit) *table4.Experiment {
	e := *u.Captions
	e.Log, e.Observe, e.Captioning, e.Extracted = o.Log, o.Observe, o.Captioning, o.Extracted
	e.Meteor = cmp.Or(e.Meteor, metrics.NewMeteor())
	if e.Videos != nil {
		nets := *e.Videos // whose configuration a session completes
		e.Videos = &nets
	}
	return &e
}

func (p *Plan) runPiece(ctx context.Context, o *Options, u *Unit, piece table4.Piece) (reused bool, err error) {
	e := p.observed(o, u)
	_, err = p.withSession(ctx, o, e.Videos, func(s *run.Session) ([]report.Run, int, error) {
		reused, err = e.RunPiece(ctx, s, piece)
		return nil, 0, err
	})
	return reused, err
}

// readCaptions reads the scores that captioners have left. A unit without them has something missing.
func (p *Plan) readCaptions(u *Unit) (*foundUnit, error) {
	scores, missing, err := p.captionScores(u)
	if err != nil {
		return nil, err
	}
	if scores == nil {
		return &foundUnit{missing: max(missing, 1)}, nil
	}
	nets, err := u.nets().YAML()
	if err != nil {
		return nil, err
	}
	captioners, err := u.Captions.Captioner.YAML()
	if err != nil {
		return nil, err
	}
	if n := len(table4.Arms()); len(scores.Rows) < n || slices.ContainsFunc(scores.Rows[:n],
		func(r report.CaptionRow) bool { return len(r.Scores) != len(p.Settings.Seeds) }) {
		return nil, fmt.Errorf("%s: it does not have scores of each net and seed: remove the file to score the captioners "+
			"again", filepath.Join(p.folder(u), scoresFile))
	}
	return &foundUnit{captions: scores, config: string(nets) + "---\n" + string(captioners)}, nil
}

// captionScores returns the scores, or nil if some are missing, and the number of incomplete tasks.
func (p *Plan) captionScores(u *Unit) (scores *captionScores, missing int, err error) {
	e := u.Captions
	if e.Videos == nil {
		scores, err = durable.LoadJSON[captionScores](filepath.Join(p.folder(u), scoresFile),
			"remove the file to score the captioners again")
		return scores, 1, err
	}
	title, modules, rows, err := e.Finished()
	if err != nil {
		return nil, 0, err
	}
	if rows != nil {
		return &captionScores{Title: "Captions of " + title, Modules: modules, Rows: rows}, 0, nil
	}
	for _, piece := range e.Pieces() {
		if !piece.Captioner { // a captioner that has scores needs no concepts any more
			continue
		}
		done, err := e.Complete(piece)
		if err != nil {
			return nil, 0, err
		}
		if !done {
			missing++
		}
	}
	return nil, missing, nil
}
