package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/loader/doctor"
	"nmn/run"
)

// doctorCommand are the flags of nmn doctor beside the configuration, which is that of nmn train.
type doctorCommand struct {
	config  run.Config
	sources sources
	sample  int
	output  string
	sheet   string
	coco    string
	msrvtt  string
	asJSON  bool
}

func newDoctor(p *program) *cobra.Command {
	d := doctorCommand{sources: newSources()}
	cmd := &cobra.Command{
		Use:   "doctor [DATA]",
		Short: "Look at a data set before anything is trained on it",
		Long: `Look at a data set as nmn train would take it, with the same flags, and tell what is
wrong with it: pictures that cannot be decoded, exact copies within and across splits,
identifiers and captions in two splits, labels on no bag or on all, bags without labels,
features that are missing, constant or on different scales. Every finding has a weight
(error: a run would fail; warning; note) and says what to do. Nothing is trained: nmn train
--dry-run prints time and memory. The exit code is 1 where a run would fail. Nothing is
written but --output, and --augmentations, a page that shows some pictures as they are
and as training would change them at random. See docs/guide/doctor.md and docs/guide/augmentation.md.

With --coco FOLDER or --msrvtt FOLDER, look at COCO 2014 and MSR-VTT as
they were published instead: names and counts of pictures, clips and captions, digests of
annotation files, what is missing, and where it is to be had.`,
		Example: `  nmn doctor captions_train2014.json --images train2014 --sample 2000
  nmn doctor x.npy --labels y.npy --json
  nmn doctor --config runs/mine/config.yaml --output doctor.json
  nmn doctor tags.csv --images photos --augment strong --augmentations sheet.html
  nmn doctor --coco data/coco --msrvtt data/msrvtt`,
		Args: oneData(p),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd, p, args) },
	}
	sourceFlags(cmd, &d.sources, run.Quick, run.Full)
	look := under(cmd, "Look")
	look.int(&d.sample, "sample",
		"`pictures` of each split that are decoded, drawn by data.seed; 0 for all. All are read and compared")
	look.file(&d.output, "output", "`file` to write the report to, as JSON", "json")
	look.file(&d.sheet, "augmentations", "`file` to write a page of pictures to, as they are and as the first epochs "+
		"change them", "html")
	look.bool(&d.asJSON, "json", "write the report as JSON")
	look.directory(&d.coco, "coco", "`folder` of COCO 2014 to look at: annotations, train2014, val2014")
	look.directory(&d.msrvtt, "msrvtt", "`folder` of MSR-VTT to look at: annotations and clips")
	d.sources.addTraining(cmd)
	return cmd
}

func (d *doctorCommand) run(cmd *cobra.Command, p *program, args []string) error {
	if d.sample < 0 {
		return usagef("doctor: --sample is %d, want at least 0", d.sample)
	}
	if d.folders() {
		return d.lookAtFolders(cmd, p)
	}
	if err := cmp.Or(d.sources.data(cmd.Context(), p, args), d.sources.of().Resolve(&d.config)); err != nil {
		return err
	}
	found, err := run.Examine(cmd.Context(), &d.config, run.ExamineOptions{
		Sample: d.sample, Log: p.log, Message: p.tell, Progress: d.progress(p), Found: d.early(p),
	})
	p.status.clear()
	if err != nil {
		return err
	}
	if err := cmp.Or(d.tell(p, found), d.showAugmentations(cmd, p)); err != nil {
		return err
	}
	if n := doctor.Count(found.Findings, doctor.Error); n > 0 {
		return fmt.Errorf("doctor: a run would fail, for %d of the findings: see their cures", n)
	}
	return nil
}

// showAugmentations writes the page of augmentations where it was asked for.
func (d *doctorCommand) showAugmentations(cmd *cobra.Command, p *program) error {
	if d.sheet == "" {
		return nil
	}
	sheet, err := run.AugmentationSheet(cmd.Context(), &d.config, p.log)
	if err != nil {
		return err
	}
	if err := durable.Stream(d.sheet, 0o666, sheet.WriteHTML); err != nil {
		return fmt.Errorf("doctor: cannot write the page of augmentations: %w", err)
	}
	return nil
}

// early shows a person at a terminal what the labels show before pictures are read, which may take a while. The report
// has it again, with its cures.
func (d *doctorCommand) early(p *program) func([]doctor.Finding) {
	return func(found []doctor.Finding) {
		for _, f := range found {
			p.note("%-7s %s: %s", "labels", f.Weight, f.Text)
		}
	}
}

// progress shows how far the look is.
func (d *doctorCommand) progress(p *program) func(doctor.Progress) {
	show := p.lines()
	if show == nil {
		return nil
	}
	return func(now doctor.Progress) {
		show(stage{Title: now.Pass, Done: now.Done, Total: now.Total, Unit: "samples"},
			func(since time.Duration) string { return doctorLine(now, since) })
	}
}

// doctorLine says how far the look is; the time that is left is reckoned from what was seen so far.
func doctorLine(now doctor.Progress, since time.Duration) string {
	return fmt.Sprintf("%s: %d %%, %s left, %d of %d", now.Pass, 100*now.Done/max(now.Total, 1),
		timeLeft(since, now.Done, now.Total-now.Done), now.Done, now.Total)
}

// tell writes the report to where it was asked for.
func (d *doctorCommand) tell(p *program, found *run.Examination) error {
	return d.write(p, found, func(b *bytes.Buffer) error {
		err := found.WriteData(b)
		fmt.Fprintln(b)
		return cmp.Or(err, d.findings(p, b, found.Findings))
	})
}

func (d *doctorCommand) findings(p *program, b *bytes.Buffer, found []doctor.Finding) error {
	return doctor.WriteFindings(b, found, func(weight string) string { return p.paint(p.out, red, weight) })
}

// write puts a report into the file that was named, and prints it: as JSON, or as text.
func (d *doctorCommand) write(p *program, report any, text func(*bytes.Buffer) error) error {
	if d.output != "" {
		content, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			err = durable.WriteFile(d.output, append(content, '\n'), 0o666)
		}
		if err != nil {
			return fmt.Errorf("doctor: cannot write the report: %w", err)
		}
	}
	if d.asJSON {
		return writeJSON(p.out, report)
	}
	var b bytes.Buffer // it appears whole
	err := text(&b)
	if err == nil {
		_, err = io.WriteString(p.out, withFlags(b.String()))
	}
	return err
}
