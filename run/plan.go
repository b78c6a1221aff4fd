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
	StepSeconds float64 `json:"step_s"`
	DeviceBytes int     `json:"device_bytes"`
}

func (p *Plan) add(arm string, m Measured) {
	p.Arms = append(p.Arms, ArmPlan{Arm: arm, Steps: m.Steps, StepSeconds: m.Step.Seconds(), DeviceBytes: m.Memory})
	p.Seconds += m.Step.Seconds() * float64(m.Steps)
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
		line("%-17s %d steps of %.1f ms, %.0f MiB, on %s\n",
			a.Arm, a.Steps, 1e3*a.StepSeconds, float64(a.DeviceBytes)/(1<<20), p.Device)
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
	s := &Session{Config: c, Data: data, Log: o.Log, Observe: Observer{Message: o.Message}}
	backend, note, err := OpenDevice(&s.Config.Run, o.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	s.Backend = backend
	s.Tell(DeviceMessage(backend, note))
	if err := s.Config.StartRates(data); err != nil {
		return nil, err
	}
	if err := s.Standardise(ctx); err != nil {
		return nil, err
	}
	if why := s.Config.Settle(data); why != "" {
		s.Tell(Message{Topic: "recipe", Text: "paper: " + why})
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
