package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/paper/claims"
	"nmn/report"
	"nmn/run"
)

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

// write writes the page, the Markdown and the record.
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
	var text, markdown, page, figure bytes.Buffer
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
	if p.part(Figure3) != nil {
		if err := report.Figure3(&figure); err != nil {
			return nil, err
		}
		all = append(all, file{figureFile, figure.Bytes()})
	}
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
