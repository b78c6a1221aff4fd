package paper

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/internal/origin"
	"nmn/paper/claims"
	"nmn/run"
)

// record is the content of RecordFile: everything needed to run the reproduction again, and its results.
type record struct {
	Form     int              `json:"form"`
	Program  run.Build        `json:"program"`
	Settings Settings         `json:"settings"`
	Parts    []recordedPart   `json:"parts"`
	Units    []recordedUnit   `json:"units"`
	Verdicts []claims.Verdict `json:"verdicts"`
	Results  []claims.Result  `json:"results"` // without single words, which the folders of the runs have
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
	// Seconds is the time of all runs. It is the only field that differs when the run is repeated.
	Seconds float64 `json:"seconds"`
}

type recordedRun struct {
	Folder      string     `json:"folder"`
	Fingerprint string     `json:"fingerprint"` // of configuration and data
	Steps       int        `json:"steps"`
	Program     *run.Build `json:"program,omitempty"` // where it was another one than that of the page
	Seconds     float64    `json:"seconds"`
}

func (p *Plan) record(ctx context.Context, f *found, out *Outcome) (*record, error) {
	r := &record{Form: planForm, Program: run.ThisBuild(), Settings: p.Settings, Verdicts: out.Verdicts}
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
	r.Results = slices.DeleteFunc(slices.Clone(out.Results), claims.Result.OfWord)
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
		one, err := p.recordRun(f.runs[i].Name)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, *one)
	}
	if u.Captions != nil && f.captions != nil {
		if err := p.recordCaptions(ctx, u, out); err != nil {
			return nil, err
		}
	}
	for i := range out.Runs {
		out.Seconds += out.Runs[i].Seconds
	}
	return out, ctx.Err()
}

// recordCaptions adds the nets and captioners of Table 4, and the clips that are made for it.
func (p *Plan) recordCaptions(ctx context.Context, u *Unit, out *recordedUnit) error {
	if u.Captions.Videos == nil {
		s, err := run.Open(ctx, u.Captions.Nets, run.Options{})
		if err != nil {
			return err
		}
		out.Data, err = digestsOf(ctx, s)
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	nets, captioners, err := u.Captions.Folders()
	if err != nil {
		return err
	}
	for _, dir := range slices.Concat(nets, captioners) {
		one, err := p.recordRun(dir)
		if err != nil {
			return err
		}
		out.Runs = append(out.Runs, *one)
	}
	return nil
}

// recordRun is the record of a net or a captioner. It has the folder alone if the result is gone.
func (p *Plan) recordRun(dir string) (*recordedRun, error) {
	folder, err := filepath.Rel(p.Settings.Dir, dir)
	if err != nil {
		return nil, err
	}
	// The results of both have these fields.
	o, err := durable.LoadJSON[struct {
		Fingerprint string
		Steps       int
		Seconds     float64
		Build       run.Build
	}](filepath.Join(dir, run.ResultFile), "remove the file to evaluate again")
	if err != nil {
		return nil, err
	}
	r := &recordedRun{Folder: filepath.ToSlash(folder)}
	if o == nil {
		return r, nil
	}
	r.Fingerprint, r.Steps, r.Seconds = o.Fingerprint, o.Steps, o.Seconds
	if o.Build != run.ThisBuild() {
		r.Program = &o.Build
	}
	return r, nil
}
