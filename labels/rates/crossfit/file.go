package crossfit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"nmn/internal/durable"
	"nmn/internal/input"
)

// planFormat marks the file, and its version.
const planFormat = "nmn folds 1"

// planFile is a plan on disk: bags and folds side by side, for easy reading.
type planFile struct {
	Format string `json:"format"`
	Seed   uint64 `json:"seed"`
	Folds  int    `json:"folds"`
	// Groups and Grouped are left out if no bags were kept together.
	Groups  int       `json:"groups,omitempty"`
	Grouped int       `json:"grouped_samples,omitempty"`
	Bags    []planBag `json:"samples"`
}

type planBag struct {
	ID   string `json:"id"`
	Fold int    `json:"fold"` // counted from 0
}

// WriteFile writes the plan as JSON; the file appears whole or not at all.
func (p *Plan) WriteFile(path string) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	f := planFile{Format: planFormat, Seed: p.Seed, Folds: p.Folds, Groups: p.Groups, Grouped: p.Grouped,
		Bags: make([]planBag, len(p.IDs))}
	for i, id := range p.IDs {
		f.Bags[i] = planBag{id, p.Fold[i]}
	}
	return durable.Stream(path, 0o644, func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return e.Encode(f)
	})
}

// ReadFile reads a plan; see Read.
func ReadFile(path string) (*Plan, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// maxPlan bounds a plan: a million bags with long names take a tenth of it.
const maxPlan = 1 << 30

// Read reads a file of WriteFile and checks all of it. Errors contain name as the file, and wrap ErrPlan.
func Read(r io.Reader, name string) (*Plan, error) {
	limited := &io.LimitedReader{R: r, N: maxPlan}
	d := json.NewDecoder(limited)
	d.DisallowUnknownFields()
	var f planFile
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w: at byte %d: %w", name, ErrPlan, d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || limited.N == 0 {
		return nil, fmt.Errorf("%s: more after the plan, at byte %d: %w", name, d.InputOffset(), ErrPlan)
	}
	if f.Format != planFormat {
		return nil, fmt.Errorf("%s: format %.40q, want %q: %w", name, f.Format, planFormat, ErrPlan)
	}
	p := &Plan{Seed: f.Seed, Folds: f.Folds, Groups: f.Groups, Grouped: f.Grouped, IDs: make([]string, len(f.Bags)),
		Fold: make([]int, len(f.Bags))}
	for i, b := range f.Bags {
		p.IDs[i], p.Fold[i] = b.ID, b.Fold
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
