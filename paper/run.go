package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"nmn/captioner/session"
	"nmn/experiment"
	"nmn/paper/appendix"
	"nmn/paper/claims"
	"nmn/report"
	"nmn/run"
)

// Options are the resources of a reproduction.
type Options struct {
	Log        *slog.Logger // nil for nowhere
	Observe    run.Observer // of the nets
	Captioning session.Observer
	Notify     func(run.Message)  // receives messages for the user; nil for none
	Extracted  func(done, of int) // as of table4.Experiment
}

func (o *Options) tell(format string, args ...any) {
	if o.Notify != nil {
		o.Notify(run.Message{Topic: "part", Text: fmt.Sprintf(format, args...)})
	}
}

// found is the results of the runs of a reproduction.
type found struct {
	units []foundUnit         // in the order of the plan
	small []appendix.Solution // of the appendix, for each seed
	em    []claims.Result     // of the appendix
}

// foundUnit is the results of a unit.
type foundUnit struct {
	runs     []report.Run // of a grid
	config   string       // of a grid, without arm, noise and seed
	digests  []dataDigest
	captions *captionScores // of captioners
	missing  int            // tasks that are not complete
}

// Run trains everything that is not complete, and writes the page, the Markdown and the record to repeat the
// run. If the context ends, finished work has been saved, the error wraps run.ErrInterrupted, and the next
// Run continues.
func (p *Plan) Run(ctx context.Context, o Options) (out *Outcome, err error) {
	release, err := p.lockFolder(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	f := &found{}
	for i := range p.Units {
		u := &p.Units[i]
		o.tell("%s (%d of %d): for %s", u.Title, i+1, len(p.Units), names(u.parts))
		unit, err := p.train(ctx, &o, u)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Title, interrupted(ctx, err))
		}
		f.units = append(f.units, *unit)
	}
	out, err = p.write(ctx, &o, f)
	return out, interrupted(ctx, err)
}

// interrupted wraps an error after the end of the context in run.ErrInterrupted: finished work is saved, even
// if no training was interrupted.
func interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, run.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w: %w", run.ErrInterrupted, err)
}

// train trains the incomplete runs of a unit.
func (p *Plan) train(ctx context.Context, o *Options, u *Unit) (*foundUnit, error) {
	if u.Captions != nil {
		return p.trainCaptions(ctx, o, u)
	}
	return p.withSession(ctx, o, u.Grid, func(s *run.Session) ([]report.Run, int, error) {
		runs, err := u.Grid.Train(ctx, s)
		return runs, 0, err
	})
}

// withSession calls f with a session of a grid, and stores digests of the data.
func (p *Plan) withSession(ctx context.Context, o *Options, g *experiment.Grid,
	f func(*run.Session) ([]report.Run, int, error)) (unit *foundUnit, err error) {
	s, err := run.Open(ctx, g.Config, run.Options{Log: o.Log, Observer: o.Observe})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	digests, err := digestsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	config, err := s.Config.YAML()
	if err != nil {
		return nil, err
	}
	unit = &foundUnit{digests: digests, config: string(config)}
	unit.runs, unit.missing, err = f(s)
	return unit, err
}

// folder is the folder of a unit.
func (p *Plan) folder(u *Unit) string {
	return filepath.Join(p.Settings.Dir, filepath.FromSlash(u.Folder))
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// runs returns the runs of all grids that pick selects, each once.
func (p *Plan) runs(f *found, pick func(u *Unit, r *report.Run) bool) []report.Run {
	var all []report.Run
	seen := map[string]bool{}
	for i := range f.units {
		for _, r := range f.units[i].runs {
			if !seen[r.Name] && pick(&p.Units[i], &r) {
				seen[r.Name] = true
				all = append(all, r)
			}
		}
	}
	return all
}
