package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/loader/doctor"
	"nmn/run"
	"nmn/text"
)

type doctorCommand struct {
	config  run.Config
	sources sources
	sample  int
	output  string
	asJSON  bool
}

func newDoctor(p *program) *cobra.Command {
	d := doctorCommand{sources: newSources()}
	cmd := &cobra.Command{
		Use:   "doctor [DATA]",
		Short: "Check a data set before training on it",
		Long: `Check a data set before training on it: unreadable pictures, copies, labels on no or all
pictures, missing or constant features. It takes the same DATA and flags as nmn train.`,
		Annotations: details(`It also finds identifiers and captions that are in two splits, and pictures without labels.
Every finding has a weight (error, warning or note) and a fix. An error means that training
would fail; the exit code is then 1. nmn train --dry-run estimates time and memory.

It writes only --output. See docs/guide/doctor.md.`),
		Example: `  nmn doctor captions_train2014.json --images train2014 --sample 2000`,
		Args:    oneData(p),
		RunE:    func(cmd *cobra.Command, args []string) error { return d.run(cmd, p, args) },
	}
	sourceFlags(cmd, &d.sources, run.Quick, run.Full)
	look := under(cmd, "Check")
	look.int(&d.sample, "sample", "decode only this many `pictures` of each split; 0 decodes all", "[0,]")
	look.file(&d.output, "output", "write the report to this JSON `file`", "json")
	look.bool(&d.asJSON, "json", "print the report as JSON")
	d.sources.addTraining(cmd)
	return cmd
}

func (d *doctorCommand) run(cmd *cobra.Command, p *program, args []string) error {
	if err := cmp.Or(d.sources.data(cmd.Context(), p, args), d.sources.of().Resolve(&d.config)); err != nil {
		return err
	}
	found, err := run.Examine(cmd.Context(), &d.config, run.ExamineOptions{
		Sample: d.sample, Log: p.log, Message: p.message, Progress: d.progress(p), Found: d.early(p),
	})
	p.status.clear()
	if err != nil {
		return err
	}
	if err := d.print(p, found); err != nil {
		return err
	}
	if n := doctor.Count(found.Findings, doctor.Error); n > 0 {
		return fmt.Errorf("doctor: %s would make training fail; fixes are listed above", text.Count(n, "problems"))
	}
	if len(args) > 0 && len(d.sources.given) <= 2 {
		p.message(run.Message{Topic: "next", Text: fmt.Sprintf("nmn train %s: train on it", argument(args[0]))})
	} else {
		p.message(run.Message{Topic: "next", Text: "nmn train with the same data and settings"})
	}
	return nil
}

// early shows findings about the labels on a terminal before pictures are read, which may take a while. The
// report repeats them with their fixes.
func (d *doctorCommand) early(p *program) func([]doctor.Finding) {
	return func(found []doctor.Finding) {
		for _, f := range found {
			p.note("%-7s %s: %s", "labels", f.Weight, f.Text)
		}
	}
}

func (d *doctorCommand) progress(p *program) func(doctor.Progress) {
	if !p.watched() {
		return nil
	}
	pass, show := "", func(int, int) {}
	return func(now doctor.Progress) {
		if now.Pass != pass {
			pass, show = now.Pass, p.counted(now.Pass, d.config.Data.Samples().String())
		}
		show(now.Done, now.Total)
	}
}

// print writes the report to --output, and prints it as JSON or text.
func (d *doctorCommand) print(p *program, found *run.Examination) error {
	err := writeTo(d.output, func(path string) error {
		return durable.Stream(path, 0o666, func(w io.Writer) error { return writeJSON(w, found) })
	})
	if err != nil {
		return fmt.Errorf("doctor: cannot write the report: %w", err)
	}
	if d.asJSON {
		return writeJSON(p.out, found)
	}
	var b bytes.Buffer // it is printed at once
	err = found.WriteData(&b)
	fmt.Fprintln(&b)
	if err := cmp.Or(err, doctor.WriteFindings(&b, found.Findings, func(weight string) string {
		return p.paint(p.out, red, weight)
	})); err != nil {
		return err
	}
	_, err = io.WriteString(p.out, withFlags(b.String()))
	return err
}
