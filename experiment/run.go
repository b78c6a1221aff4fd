package experiment

import (
	"context"
	"errors"
	"fmt"

	"nmn/report"
	"nmn/run"
)

// Run trains everything that is not complete yet, and writes the tables and the page of the experiment. The
// session s has the experiment's configuration.
func (g *Grid) Run(ctx context.Context, s *run.Session) (o *Outcome, err error) {
	if err := g.Settle(ctx, s); err != nil {
		return nil, err
	}
	s.TellCost(g.Arms...)
	release, err := s.Ranks.Lock(ctx, g.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	runs, err := g.train(ctx, s)
	if err != nil {
		return nil, err
	}
	return g.write(ctx, s, runs)
}

// Train trains everything that is not complete yet, and returns the runs that were asked for, in the order in which
// they are trained.
func (g *Grid) Train(ctx context.Context, s *run.Session) (runs []report.Run, err error) {
	release, err := s.Ranks.Lock(ctx, g.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return g.train(ctx, s)
}

func (g *Grid) train(ctx context.Context, s *run.Session) (runs []report.Run, err error) {
	g.Config = s.Config
	if err := s.PrepareFolder(ctx, g.Dir, append(TableFiles(), run.IndexFile)...); err != nil {
		return nil, err
	}
	clean := s.Data
	defer func() { s.Data = clean }()
	g.reused = 0
	levels := g.levels()
	groups := len(levels) * len(g.Seeds)
	g.pace = g.newPace(groups)
	observe := s.Observe
	s.Observe.Training = g.pace.watch(s)
	defer func() { s.Observe = observe }()
	for i, level := range levels {
		for j, seed := range g.Seeds {
			g.heading = fmt.Sprintf("noise %v, seed %d (%d of %d)", level, seed, i*len(g.Seeds)+j+1, groups)
			if err := g.withNoise(ctx, s, clean, level, seed); err != nil {
				return nil, err
			}
			for _, mil := range g.mils() {
				m, err := g.members(ctx, s, level, seed, mil)
				if err != nil {
					return nil, err
				}
				some, err := g.trainMembers(ctx, m)
				if err != nil {
					return nil, err
				}
				runs = append(runs, some...)
			}
		}
	}
	if g.reused > 0 {
		of := groups * len(g.mils()) * len(g.needed())
		s.Notify(run.Message{Text: fmt.Sprintf("%s: %d of %d runs are complete; their results are shown, and they were "+
			"not trained again", g.Dir, g.reused, of), Always: true})
	}
	return runs, nil
}
