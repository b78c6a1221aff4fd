package run

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// Files of a search for a learning rate.
const (
	LearningRateSearchFile  = "lr-finder.csv"
	LearningRateSearchChart = "lr-finder.svg"
)

// LearningRateSearch is what a search for a learning rate has found.
type LearningRateSearch struct {
	Arm          string  `json:"arm"` // whose start it is from
	LearningRate float64 `json:"learning_rate"`
	*train.LearningRateSearch
	Steps int    `json:"steps"`
	Table string `json:"table"` // files
	Chart string `json:"chart"`
}

// FindLearningRate makes the first steps of the run's training at rates that rise from step to step, and throws the net
// away. It is the first stage of the arm, which begins from the weights that the run would begin from; the arm itself
// where `stage1` names its start. The steps come as a table and a chart into a folder.
func (s *Session) FindLearningRate(ctx context.Context, dir string) (found *LearningRateSearch, err error) {
	if !s.prepared {
		if _, err := s.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	if s, err = s.With(ctx, s.Config); err != nil {
		return nil, err
	}
	arms, err := s.Config.PlannedArms()
	if err != nil {
		return nil, err
	}
	arm := arms[0]
	if s.Config.Stage1 != "" {
		arm = arms[len(arms)-1]
	}
	if s.Data.Evidence != nil {
		arm.Noise = model.NoNoise
	}
	c := &s.Config
	nets, from := s.nets(), ""
	if arm.Stage == 2 {
		from = c.Stage1
	}
	net, _, err := nets.open(arm, c.Train, s.Data.Train, from, arm.Stage == 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	l := c.Loader()
	l.Evidence = s.Data.Evidence
	settings := c.Train
	if e, ok := c.Arm.Arm(); ok {
		settings.Loss = e.LossOf(settings.Loss)
	}
	search, err := train.FindLearningRate(ctx, train.Options{Config: settings, Stage: arm.Stage, Net: net,
		Data: s.Data.Train, Loader: l, Observers: s.Observe.Begin(Training{Title: "learning rates of " + arm.Name,
			Arm: recipe.Name(arm.Name), MIL: c.Net.MIL, Noise: s.Data.Noise, Seed: c.Train.Seed, Device: s.Backend.Name()}),
		Group: s.Ranks.group, Wire: c.Run.wire(),
	}, train.DefaultSweep())
	s.Observe.End()
	if err != nil {
		return nil, Interrupted(err)
	}
	found = &LearningRateSearch{Arm: arm.Name, LearningRate: c.Train.LearningRate, LearningRateSearch: search,
		Steps: len(search.Points), Table: filepath.Join(dir, LearningRateSearchFile),
		Chart: filepath.Join(dir, LearningRateSearchChart)}
	return found, s.Ranks.Save(ctx, func() error { return found.write(dir) })
}

func (r *LearningRateSearch) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := durable.Stream(r.Table, 0o644, r.writeTable); err != nil {
		return err
	}
	points := make([]report.SweepPoint, len(r.Points))
	for i, p := range r.Points {
		points[i] = report.SweepPoint{LearningRate: p.LearningRate, Loss: r.Start + p.Loss - p.Start, Smoothed: p.Smoothed}
	}
	var chart bytes.Buffer
	if err := report.LearningRateSweep(&chart, points, r.Suggested); err != nil {
		return err
	}
	return durable.Save(r.Chart, chart.Bytes())
}

func (r *LearningRateSearch) writeTable(w io.Writer) error {
	_, err := fmt.Fprintln(w, "step,learning_rate,loss_at_start,loss,smoothed_loss")
	for _, p := range r.Points {
		if err == nil {
			_, err = fmt.Fprintf(w, "%d,%g,%g,%g,%g\n", p.Step, p.LearningRate, p.Start, p.Loss, p.Smoothed)
		}
	}
	return err
}

// Text is what was found, in lines for people. Settings are named by their keys.
func (r *LearningRateSearch) Text() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "learning rates from %.0e on, %d steps from the start of %s\n", r.firstRate(), r.Steps, r.Arm)
	line := func(what string, rate float64, none string) {
		if rate == 0 {
			fmt.Fprintf(&b, "  %-22s %s\n", what, none)
			return
		}
		fmt.Fprintf(&b, "  %-22s %.2g\n", what, rate)
	}
	line("steepest descent", r.Steepest, "the loss does not fall at any rate")
	line("lowest loss", r.Lowest, "the loss does not fall at any rate")
	line("a tenth of divergence", r.Edge/10, "the loss does not rise above that of the start")
	if r.Suggested > 0 {
		fmt.Fprintf(&b, "suggested: `train.learning_rate` %.2g, a third of that of the lowest loss (this run's is %g)\n",
			r.Suggested, r.LearningRate)
	} else {
		b.WriteString("no suggestion: see the chart\n")
	}
	return b.String()
}

func (r *LearningRateSearch) firstRate() float64 {
	if len(r.Points) == 0 {
		return train.DefaultSweep().First
	}
	return r.Points[0].LearningRate
}
