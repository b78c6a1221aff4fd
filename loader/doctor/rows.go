package doctor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"nmn/loader"
	"nmn/loader/features"
)

// Rows are the feature vectors of a split.
type Rows struct {
	Rows       int `json:"rows"`
	Unusable   int `json:"unusable"`   // with a number that is not finite
	Incomplete int `json:"incomplete"` // with a missing value, NaN
	Missing    int `json:"missing_values"`
	Copies
	Errors []string `json:"errors"` // errors of the first unusable rows
}

// Features are the columns, as the training split has them.
type Features struct {
	Width    int   `json:"features"`
	Constant []int `json:"constant_columns"` // numbered from 1
	// Least and Most are the standard deviations of the columns that vary least and most, without constant
	// ones; LargestMean is the largest mean by magnitude.
	Least       float64 `json:"least_deviation"`
	Most        float64 `json:"most_deviation"`
	LargestMean float64 `json:"largest_mean"`
}

// lookAtRows reads every row of every split, and adds findings.
func (r *Report) lookAtRows(ctx context.Context, splits []Split, o Options) error {
	total, done := 0, 0
	for i := range r.Splits {
		total += r.Splits[i].Frames
	}
	looks := make([]look, 0, total)
	for i, split := range splits {
		p := rowPass{split: split, rows: &Rows{Errors: []string{}}, report: func() {
			if done++; o.Progress != nil {
				o.Progress(Progress{"rows", done, total})
			}
		}}
		moments, err := features.Measure(split.Set.Vectors.Width(), p.all(ctx))
		if p.failed != nil {
			return fmt.Errorf("doctor: rows of %s: %w", split.Name, p.failed)
		}
		if err == nil && i == 0 {
			r.Features = measureColumns(moments)
		}
		for l := range p.looks {
			p.looks[l].split = uint8(i)
		}
		looks, r.Splits[i].Rows = append(looks, p.looks...), p.rows
		r.rowFindings(&r.Splits[i], &o)
	}
	r.columnFindings(&o)
	r.compareContent(looks, splits, "rows", func(split int) *Copies { return &r.Splits[split].Rows.Copies })
	return nil
}

// rowPass reads the rows of a split once.
type rowPass struct {
	split  Split
	rows   *Rows
	looks  []look
	failed error // error that ended the pass
	report func()
}

// all yields the rows for measuring. It also compares all rows without a NaN.
func (p *rowPass) all(ctx context.Context) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		v := p.split.Set.Vectors
		row, content := make([]float32, v.Width()), []byte(nil)
		for bag := range p.split.Set.Len() {
			for frame := range v.Frames(bag) {
				err := v.Read(ctx, bag, frame, row)
				if err != nil && !errors.Is(err, loader.ErrCorrupt) {
					p.failed = err
					return
				}
				p.count(row, err)
				if err == nil {
					l := look{bag: int32(bag), frame: int32(frame)}
					// Append fails only for types without a size.
					content, _ = binary.Append(content[:0], binary.LittleEndian, row)
					l.note(content)
					p.looks = append(p.looks, l)
				}
				p.report()
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

func (p *rowPass) count(row []float32, err error) {
	p.rows.Rows++
	if err != nil {
		p.rows.Unusable++
		if len(p.rows.Errors) < listedErrors {
			p.rows.Errors = append(p.rows.Errors, err.Error())
		}
		return
	}
	missing := 0
	for _, v := range row {
		if v != v {
			missing++
		}
	}
	if missing > 0 {
		p.rows.Incomplete++
		p.rows.Missing += missing
	}
}

func measureColumns(m *features.Moments) *Features {
	f := &Features{Width: len(m.Mean), Constant: []int{}}
	for c, deviation := range m.Deviation {
		f.LargestMean = max(f.LargestMean, math.Abs(m.Mean[c]))
		if deviation == 0 {
			f.Constant = append(f.Constant, c+1)
			continue
		}
		if f.Least == 0 || deviation < f.Least {
			f.Least = deviation
		}
		f.Most = max(f.Most, deviation)
	}
	return f
}

// rowFindings judges rows that cannot be used as they are.
func (r *Report) rowFindings(s *SplitReport, o *Options) {
	if n := s.Rows.Unusable; n > 0 {
		what := fmt.Sprintf("unusable rows of %s: %d of %d", s.Name, n, s.Rows.Rows)
		r.Findings = append(r.Findings, leftOut("unusable-rows", what, n, o.MaxBadSamples, "", repair, "", s.Rows.Errors))
	}
	if n := s.Rows.Incomplete; n > 0 {
		if o.Missing {
			r.add(Note, "missing-values", fmt.Sprintf("rows of %s with missing values: %d of %d; training uses the mean of "+
				"the column", s.Name, n, s.Rows.Rows), "none is needed, if they are missing by chance")
		} else {
			r.add(Error, "missing-values", fmt.Sprintf("rows of %s with missing values (empty, ?, NaN): %d of %d", s.Name, n,
				s.Rows.Rows), "`data.features.missing_values` mean `data.features.standardise` uses the mean of the column, or "+
				"repair the rows")
		}
	}
}

// Columns that differ more than this learn at paces that differ by its square.
const (
	largeRatio = 1000
	largeMean  = 1000
)

func (r *Report) columnFindings(o *Options) {
	f := r.Features
	if f == nil {
		return
	}
	if n := len(f.Constant); n > 0 {
		examples := make([]string, min(n, maxExamples))
		for i := range examples {
			examples[i] = fmt.Sprintf("column %d", f.Constant[i])
		}
		r.add(Note, "constant-features", fmt.Sprintf("features that are constant in %s: %d of %d; they have no effect",
			r.Splits[0].Name, n, f.Width), "leave them out (`data.features.ignore_columns`)", examples...)
	}
	if !o.Standardise && (f.Most > largeRatio*f.Least || f.LargestMean > largeMean) {
		r.add(Warning, "scale", fmt.Sprintf("features are on different scales: deviations of %.3g to %.3g, means of up to "+
			"%.3g", f.Least, f.Most, f.LargestMean), "`data.features.standardise` scales all to mean 0 and deviation 1")
	}
}
