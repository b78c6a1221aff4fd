package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// members are the arms of one noise level, seed and setting of MIL, which share stage 1 and the recipe.
type members struct {
	session *run.Session
	config  run.Config // of all but the arm
	dir     string     // of the noise level and seed
	recipe  *recipe.Recipe
	// planning keeps other processes away from the recipe; see run.ArmOptions.
	planning func(context.Context) (release func() error, err error)
}

// seedDir is the folder of a noise level and seed.
func (g *Grid) seedDir(level noiseLevel, seed uint64) string {
	return filepath.Join(g.Dir, level.folder(), fmt.Sprintf("seed-%d", seed))
}

// configOf is the configuration of the runs at a noise level, seed and setting of MIL.
func (g *Grid) configOf(level noiseLevel, seed uint64, mil bool) run.Config {
	c := g.Config
	c.Data.Noise, c.Data.Flips, c.Data.NoiseSeed, c.Train.Seed = level.share, level.flips, seed, seed
	c.SetMIL(mil)
	return c
}

// members makes what the arms of a noise level, seed and setting of MIL need, of a session whose data have the noise.
func (g *Grid) members(ctx context.Context, s *run.Session, level noiseLevel, seed uint64, mil bool) (*members, error) {
	c := g.configOf(level, seed, mil)
	s, err := s.With(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, name := range g.Arms {
		c.Arm = name
		settings := c.Settings()
		if err := settings.Fits(s.Data); err != nil {
			return nil, err
		}
	}
	m := &members{session: s, config: c, dir: g.seedDir(level, seed)}
	m.recipe = s.Recipe(m.recipeDir())
	m.planning = func(ctx context.Context) (func() error, error) { return Exclusively(ctx, s, m.recipeDir()) }
	return m, nil
}

// recipeDir is the folder of the recipe.
func (m *members) recipeDir() string {
	return filepath.Join(m.dir, run.RecipeFolder+recipe.Suffix(m.config.Net.MIL))
}

// options returns the options of an arm: its folder, and stage 1 if the arm starts from it.
func (m *members) options(name recipe.Name) (o run.ArmOptions, err error) {
	arm, err := name.ForTraining(m.config.Net.MIL)
	if err != nil {
		return o, err
	}
	o = run.ArmOptions{Arm: name, Dir: filepath.Join(m.dir, arm.Name), Recipe: m.recipe, Planning: m.planning}
	if arm.Stage == 2 {
		first, err := recipe.Stage1.ForTraining(m.config.Net.MIL)
		if err != nil {
			return o, err
		}
		o.From = filepath.Join(m.dir, first.Name, train.LastName)
	}
	return o, nil
}

// report describes an arm for tables.
func (m *members) report(name recipe.Name, dir string, o *run.Outcome) (*report.Run, error) {
	c := m.config
	c.Arm = name
	return o.Report(&c, dir)
}

// train trains all arms one after the other, and returns the runs that were asked for.
func (g *Grid) trainMembers(ctx context.Context, m *members) ([]report.Run, error) {
	s := m.session
	var runs []report.Run
	for _, name := range g.needed() {
		options, err := m.options(name)
		if err != nil {
			return nil, err
		}
		options.Heading = g.heading
		began := time.Now()
		o, reused, err := s.TrainArm(ctx, options)
		if err != nil {
			return nil, err
		}
		g.pace.ran(m.config.Net.MIL, g.epochs(name, m.config.Net.MIL), reused, time.Since(began))
		if !reused {
			g.heading = ""
		}
		s.Log.Info("arm done", "dir", options.Dir, "reused", reused, "seconds", o.Seconds)
		if reused {
			g.reused++
			s.Notify(run.Message{Text: options.Dir + " is complete: not run again", Detail: true})
		}
		if !reused {
			g.pace.announce(s)
		}
		if slices.Contains(g.Arms, name) {
			page, err := m.report(name, options.Dir, o)
			if err != nil {
				return nil, err
			}
			runs = append(runs, *page)
		}
	}
	return runs, nil
}

// withNoise gives the session of an experiment the data of a noise level and seed, of those without noise.
func (g *Grid) withNoise(ctx context.Context, s *run.Session, clean *dataset.Splits, level noiseLevel,
	seed uint64) (err error) {
	c := g.configOf(level, seed, false)
	s.Data, err = clean.WithNoise(ctx, &c.Data)
	return err
}
