package paper

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"

	"nmn/captioner/session"
	"nmn/experiment"
	"nmn/internal/durable"
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

type found struct {
	units []foundUnit         // in the order of the plan
	small []appendix.Solution // of the appendix, for each seed
	em    []claims.Result     // of the appendix
}

type foundUnit struct {
	runs     []report.Run // of a grid
	config   string       // of a grid, without arm, noise and seed
	digests  []dataDigest
	captions *captionScores // of captioners
	missing  int            // tasks that are not complete
}

// Run trains everything that is not complete, and writes the page, the Markdown and the record to repeat the run. If
// the context ends, finished work has been saved, the error wraps run.ErrInterrupted, and the next Run continues.
func (p *Plan) Run(ctx context.Context, o Options) (*Outcome, error) {
	number := 0
	out, err := p.writeUnits(ctx, &o, func(u *Unit) (*foundUnit, error) {
		number++
		o.tell("%s (%d of %d): for %s", u.Title, number, len(p.Units), names(u.parts))
		unit, err := p.train(ctx, &o, u)
		return unit, interrupted(ctx, err)
	})
	return out, interrupted(ctx, err)
}

// writeUnits writes the files of results that a function trains or reads.
func (p *Plan) writeUnits(ctx context.Context, o *Options,
	results func(*Unit) (*foundUnit, error)) (out *Outcome, err error) {
	release, err := p.lockFolder(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	f := &found{}
	for i := range p.Units {
		unit, err := results(&p.Units[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Units[i].Title, err)
		}
		f.units = append(f.units, *unit)
	}
	return p.write(ctx, o, f)
}

// interrupted wraps an error after the end of the context in run.ErrInterrupted: finished work is saved, even
// if no training was interrupted.
func interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, run.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w: %w", run.ErrInterrupted, err)
}

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

func (p *Plan) folder(u *Unit) string {
	return filepath.Join(p.Settings.Dir, filepath.FromSlash(u.Folder))
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// runs are the runs of all grids, each once, with the first unit that has it.
func (p *Plan) runs(f *found) iter.Seq2[*Unit, *report.Run] {
	return func(yield func(*Unit, *report.Run) bool) {
		seen := map[string]bool{}
		for i := range f.units {
			for j := range f.units[i].runs {
				r := &f.units[i].runs[j]
				if !seen[r.Name] && !yield(&p.Units[i], r) {
					return
				}
				seen[r.Name] = true
			}
		}
	}
}

// Outcome is the result of a reproduction.
type Outcome struct {
	Results  []claims.Result
	Verdicts []claims.Verdict
	Page     *report.Reproduction
	Record   []byte // content of RecordFile
}

// Summary is a line for each verdict.
func (o *Outcome) Summary() (lines []report.Explained) {
	for _, v := range o.Verdicts {
		name := v.ID
		if v.Data != "" {
			name += ", " + v.Data
		}
		lines = append(lines, report.Explained{Name: name, Meaning: string(v.Outcome)})
	}
	return lines
}

func (p *Plan) write(ctx context.Context, o *Options, f *found) (*Outcome, error) {
	if err := p.compareEM(ctx, o, f); err != nil {
		return nil, err
	}
	out := &Outcome{Results: p.results(f)}
	if err := claims.Validate(out.Results); err != nil {
		return nil, err
	}
	out.Verdicts = claims.Check(out.Results)
	var err error
	if out.Page, err = p.page(ctx, o, f, out.Verdicts); err != nil {
		return nil, err
	}
	files, err := p.contents(ctx, f, out)
	if err != nil {
		return nil, err
	}
	return out, run.SaveFiles(ctx, o.log(), func() error {
		for _, file := range files {
			if err := durable.Save(filepath.Join(p.Settings.Dir, file.name), file.content); err != nil {
				return err
			}
		}
		return nil
	})
}

type file struct {
	name    string
	content []byte
}

// contents are the files to write. The page comes last.
func (p *Plan) contents(ctx context.Context, f *found, out *Outcome) (all []file, err error) {
	record, err := p.record(ctx, f, out)
	if err != nil {
		return nil, err
	}
	var text, markdown, page bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(record); err != nil {
		return nil, err
	}
	if err := out.Page.WriteMarkdown(&markdown); err != nil {
		return nil, err
	}
	if err := out.Page.WriteHTML(&page); err != nil {
		return nil, err
	}
	out.Record = text.Bytes()
	all = []file{{RecordFile, text.Bytes()}, {MarkdownFile, markdown.Bytes()}}
	return append(all, file{PageFile, page.Bytes()}), nil
}

// part returns a part of the plan, or nil if it is not in it.
func (p *Plan) part(name Part) *PlannedPart {
	for i := range p.Parts {
		if p.Parts[i].Name == name && p.Parts[i].Skip == "" {
			return &p.Parts[i]
		}
	}
	return nil
}
