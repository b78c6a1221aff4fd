package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nmn/report"
	"nmn/run"
)

// tablesOutput are the flags of a command that prints tables or JSON.
type tablesOutput struct {
	format report.Format
	asJSON bool
}

func (o *tablesOutput) flags(r group) {
	o.format = report.Text
	enum(r, &o.format, "format", "print the tables in this `format`",
		report.Text, report.Markdown, report.CSV, report.JSON)
	r.bool(&o.asJSON, "json", "print everything as one JSON object")
}

// form returns the format of a command whose JSON is its tables.
func (o *tablesOutput) form() report.Format {
	if o.asJSON {
		return report.JSON
	}
	return o.format
}

// print prints tables; CSV holds the first alone.
func (o *tablesOutput) print(p *program, tables ...*report.Table) error {
	if o.form() == report.CSV {
		tables = tables[:1]
	}
	return report.Write(p.out, o.form(), tables...)
}

// write prints the summary as JSON, or the tables.
func (o *tablesOutput) write(p *program, summary func() any, tables func() []*report.Table) error {
	if o.asJSON {
		return writeJSON(p.out, summary())
	}
	return report.Write(p.out, o.format, tables()...)
}

// writeTo writes the file of a flag unless the flag is empty.
func writeTo(path string, write func(path string) error) error {
	if path == "" {
		return nil
	}
	return write(path)
}

// programVersion returns the version for records of changes.
func programVersion() string {
	b := run.ThisBuild()
	return strings.TrimSpace("nmn " + b.Version + " " + b.Revision)
}

// print prints v as JSON, or text.
func (p *program) print(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return writeJSON(p.out, v)
	}
	_, err := fmt.Fprintf(p.out, format, args...)
	return err
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
