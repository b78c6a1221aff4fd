package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// Run trains everything that is not complete yet, and writes the tables and the page of the experiment. The session
// is of the experiment's configuration.
func (g *Grid) Run(ctx context.Context, s *run.Session) (o *Outcome, err error) {
	plain, err := s.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	if plain {
		g.Arms = recipe.PaperArms()
	}
	s.TellCost(g.Arms...)
	release, err := s.Lock(g.Dir)
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
	release, err := s.Lock(g.Dir)
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
	end, err := s.TrackGroup(g.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { end(err) }()
	clean := s.Data
	defer func() { s.Data = clean }()
	g.reused = 0
	levels := g.levels()
	groups := len(levels) * len(g.Seeds)
	for i, level := range levels {
		for j, seed := range g.Seeds {
			g.heading = fmt.Sprintf("noise %v, seed %d (%d of %d)", level, seed, i*len(g.Seeds)+j+1, groups)
			c := g.Config
			c.Data.Noise, c.Data.Flips, c.Data.NoiseSeed, c.Train.Seed = level.rate, level.flips, seed, seed
			if s.Data, err = clean.WithNoise(ctx, &c.Data); err != nil {
				return nil, err
			}
			for _, mil := range g.mils() {
				c.Net.MIL = mil
				some, err := g.arm(ctx, s, c, level)
				if err != nil {
					return nil, err
				}
				runs = append(runs, some...)
			}
		}
	}
	if g.reused > 0 {
		of := groups * len(g.mils()) * len(g.needed())
		s.Tell(run.Message{Text: fmt.Sprintf("%s: %d of %d runs are complete; their results are shown, and they were not trained again",
			g.Dir, g.reused, of), Always: true})
	}
	return runs, nil
}

// arm trains the arms at one noise level, seed and setting of MIL.
func (g *Grid) arm(ctx context.Context, s *run.Session, c run.Config, level noiseLevel) ([]report.Run, error) {
	s, err := s.With(ctx, c)
	if err != nil {
		return nil, err
	}
	group := filepath.Join(g.Dir, level.folder(), fmt.Sprintf("seed-%d", c.Train.Seed))
	var runs []report.Run
	first := ""
	for _, name := range g.Arms {
		c.Arm = name
		settings := c.Settings()
		if err := settings.Fits(s.Data); err != nil {
			return nil, err
		}
	}
	found := s.Recipe(filepath.Join(group, run.RecipeFolder+recipe.Suffix(c.Net.MIL)))
	for _, name := range g.needed() {
		c.Arm = name
		arm, err := name.TrainArm(c.Net.MIL)
		if err != nil {
			return nil, err
		}
		dir, from := filepath.Join(group, arm.Name), ""
		switch {
		case arm.Stage == 2:
			from = filepath.Join(first, train.LastName)
		case name == recipe.Stage1:
			first = dir
		}
		o, reused, err := s.TrainArm(ctx, run.ArmOptions{Arm: name, Dir: dir, From: from, Recipe: found,
			Heading: g.heading})
		if err != nil {
			return nil, err
		}
		if !reused {
			g.heading = ""
		}
		s.Log.Info("arm done", "dir", dir, "reused", reused, "seconds", o.Seconds)
		if reused {
			g.reused++
			s.Tell(run.Message{Text: dir + " is complete: not run again", Detail: true})
		}
		if slices.Contains(g.Arms, name) {
			page, err := o.Report(&c, dir)
			if err != nil {
				return nil, err
			}
			runs = append(runs, *page)
		}
	}
	return runs, nil
}
