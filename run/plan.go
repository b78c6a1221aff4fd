package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"nmn/loader/dataset"
	"nmn/recipe"
)

// Plan is the time and memory that a run would take.
type Plan struct {
	Device string    `json:"device"`
	Recipe string    `json:"recipe,omitempty"` // what it trains beside, which is not counted here
	Arms   []ArmPlan `json:"arms"`
	// Seconds is of all arms, without validation.
	Seconds float64 `json:"seconds"`
}

// ArmPlan is what one arm would take.
type ArmPlan struct {
	Arm         string  `json:"arm"`
	Steps       int     `json:"steps"`
	StepSeconds float64 `json:"step_s"` // of a step with a full batch, else of the largest there is
	Bags        int     `json:"step_bags"`
	Batch       int     `json:"full_batch"` // bags of a full batch
	DeviceBytes int     `json:"device_bytes"`
	FreeBytes   int64   `json:"free_bytes,omitempty"` // of memory for them, where that is the CPU's and known
}

func (p *Plan) add(arm string, m Measured) {
	p.Arms = append(p.Arms, ArmPlan{Arm: arm, Steps: m.Steps, StepSeconds: m.Step.Seconds(), Bags: m.Bags,
		Batch: m.Batch, DeviceBytes: m.Memory, FreeBytes: m.Free})
	p.Seconds += m.Total().Seconds()
}

// Write writes the plan for people, a line for each arm; nothing where it has no arms.
func (p *Plan) Write(w io.Writer) error {
	if p == nil {
		return nil
	}
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format, args...)
		}
	}
	for _, a := range p.Arms {
		line("%-17s %d steps of %.1f ms, %s, on %s\n", a.Arm, a.Steps, 1e3*a.StepSeconds,
			needs(a.DeviceBytes, a.FreeBytes), p.Device)
		if a.Bags < a.Batch {
			line("                  no full batch of %d: steps of at most %d were timed\n", a.Batch, a.Bags)
		}
	}
	if p.Recipe != "" {
		line("recipe            %s, not counted below\n", p.Recipe)
	}
	all := time.Duration(p.Seconds * float64(time.Second)).Round(time.Second)
	line("in all            about %v, without validation\n", all)
	return err
}

// plan makes a few steps of each arm that a run of the configuration trains.
func (c Config) plan(ctx context.Context, data *dataset.Splits, o *ExamineOptions) (p *Plan, err error) {
	if err := c.ValidateLoss(); err != nil {
		return nil, err
	}
	s := newSession(Options{Log: o.Log, Observer: Observer{Message: o.Message}})
	s.Config, s.Data = c, data
	if err := s.openDevice(); err != nil {
		return nil, err
	}
	backend := s.Backend
	defer func() { err = cmp.Or(err, backend.Close()) }()
	if err := s.takeFeatures(ctx, "", true, nil); err != nil { // of a few pictures: the others have no effect on speed
		return nil, err
	}
	if err := s.Config.StartNoiseRates(data); err != nil {
		return nil, err
	}
	if _, err := s.settle(ctx); err != nil {
		return nil, err
	}
	if err := s.Fits(); err != nil {
		return nil, err
	}
	c = s.Config
	settings := c.Settings()
	s, err = s.With(ctx, c)
	if err != nil {
		return nil, err
	}
	p = &Plan{Device: backend.Name(), Recipe: settings.Cost([]recipe.Name{c.Arm})}
	arms, err := c.PlannedArms()
	if err != nil {
		return nil, err
	}
	for _, arm := range arms {
		m, err := s.Measure(ctx, arm)
		if err != nil {
			return nil, err
		}
		p.add(arm.Name, m)
	}
	return p, nil
}
