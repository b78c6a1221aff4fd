package reproduce

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/internal/origin"
	"nmn/loader/published"
	"nmn/report"
	"nmn/reproduce/claims"
	"nmn/run"
)

// record is what RecordFile holds: all that is needed to run the reproduction again, and what it has found.
type record struct {
	Form     int              `json:"form"`
	Program  run.Build        `json:"program"`
	Settings Settings         `json:"settings"`
	Files    []published.File `json:"annotations,omitempty"` // of the paper's data
	Parts    []recordedPart   `json:"parts"`
	Units    []recordedUnit   `json:"units"`
	Verdicts []verdict        `json:"verdicts"`
	Results  []claims.Result  `json:"results"` // but for those of single words, which the folders of the runs have
}

type recordedPart struct {
	Name Part   `json:"name"`
	Data string `json:"data,omitempty"`
	Skip string `json:"skipped,omitempty"`
}

type recordedUnit struct {
	Folder string        `json:"folder"`
	Data   []dataDigest  `json:"data,omitempty"`  // before captions are replaced
	Files  []origin.File `json:"files,omitempty"` // that settings name
	Config string        `json:"config"`          // YAML, without arm, noise, seed and MIL
	Runs   []recordedRun `json:"runs,omitempty"`
	// Seconds are of all runs; of nothing else in this file does a second run have others.
	Seconds float64 `json:"seconds"`
}

type recordedRun struct {
	Folder      string     `json:"folder"`
	Fingerprint string     `json:"fingerprint"` // of configuration and data
	Steps       int        `json:"steps"`
	Program     *run.Build `json:"program,omitempty"` // where it was another one than that of the page
	Seconds     float64    `json:"seconds"`
}

// verdict is a claims.Verdict with the figures that it follows from.
type verdict struct {
	ID      string              `json:"id"`
	Claim   string              `json:"claim"`
	Where   string              `json:"where,omitempty"`
	Data    string              `json:"data,omitempty"`
	Outcome claims.Outcome      `json:"outcome"`
	Reason  string              `json:"reason,omitempty"`
	Compare []claims.Comparison `json:"comparisons,omitempty"`
}

// record makes the record.
func (p *Plan) record(ctx context.Context, f *found, out *Outcome) (*record, error) {
	r := &record{Form: planForm, Program: run.ThisBuild(), Settings: p.Settings, Files: p.files}
	for _, part := range p.Parts {
		r.Parts = append(r.Parts, recordedPart{part.Name, part.Data, part.Skip})
	}
	for i := range p.Units {
		unit, err := p.recordUnit(ctx, &p.Units[i], &f.units[i])
		if err != nil {
			return nil, err
		}
		r.Units = append(r.Units, *unit)
	}
	for _, v := range out.Verdicts {
		r.Verdicts = append(r.Verdicts, verdict{v.ID, v.Claim, v.Where, v.Data, v.Outcome, v.Reason, v.Comparisons})
	}
	for _, one := range out.Results {
		if !strings.Contains(one.Words, ":") {
			r.Results = append(r.Results, one)
		}
	}
	return r, nil
}

func (p *Plan) recordUnit(ctx context.Context, u *Unit, f *foundUnit) (*recordedUnit, error) {
	out := &recordedUnit{Folder: u.Folder, Data: f.digests, Config: f.config}
	files, err := origin.Load(filepath.Join(p.folder(u), run.DataFile))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if file.Digest != "" {
			out.Files = append(out.Files, file)
		}
	}
	for i := range f.runs {
		one, err := p.recordRun(&f.runs[i])
		if err != nil {
			return nil, err
		}
		out.Seconds += one.Seconds
		out.Runs = append(out.Runs, *one)
	}
	return out, ctx.Err()
}

func (p *Plan) recordRun(r *report.Run) (*recordedRun, error) {
	folder, err := filepath.Rel(p.Settings.Dir, r.Name)
	if err != nil {
		return nil, err
	}
	out := &recordedRun{Folder: filepath.ToSlash(folder)}
	o, err := run.ReadOutcome(r.Name)
	if err != nil || o == nil {
		return out, err
	}
	out.Fingerprint, out.Steps, out.Seconds = o.Fingerprint, o.Steps, o.Seconds
	if build := o.Build; build != run.ThisBuild() {
		out.Program = &build
	}
	return out, nil
}
