package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"nmn/loader/doctor"
	"nmn/run"
)

// runPlan is what a run would take.
type runPlan struct {
	Device string    `json:"device"`
	Recipe string    `json:"recipe,omitempty"` // what it trains beside, which is not counted here
	Arms   []armPlan `json:"arms"`
	// Seconds is of all arms, without validation.
	Seconds float64 `json:"seconds"`
}

// armPlan is what one arm would take.
type armPlan struct {
	Arm         string  `json:"arm"`
	Steps       int     `json:"steps"`
	StepSeconds float64 `json:"step_s"`
	DeviceBytes int     `json:"device_bytes"`
}

func (r *runPlan) add(arm string, m run.Measured) {
	r.Arms = append(r.Arms, armPlan{Arm: arm, Steps: m.Steps, StepSeconds: m.Step.Seconds(), DeviceBytes: m.Memory})
	r.Seconds += m.Step.Seconds() * float64(m.Steps)
}

// write tells the report to people: what there is, and then the findings, the worst first.
func (r *doctorReport) write(p *program) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(r.Splits) > 0 {
		fmt.Fprintln(w, "split\tbags\tframes\tclasses\tlabels each\twithout label\trare\tempty\tconstant")
	}
	for _, s := range r.Splits {
		l := &s.Labels
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.2f\t%d\t%d\t%d\t%d\n", s.Name, s.Bags, s.Frames, l.Classes, l.PerBag, l.Unlabelled, l.Rare, len(l.Never), len(l.Always))
	}
	_ = w.Flush() // into memory
	for _, s := range r.Splits[:min(len(r.Splits), 1)] {
		fmt.Fprintf(&b, "most frequent     %s\nleast frequent    %s\n", classSizes(s.Labels.Most), classSizes(s.Labels.Least))
	}
	for _, s := range r.Splits {
		fmt.Fprint(&b, describePictures(&s), describeRows(&s))
	}
	if f := r.Features; f != nil {
		fmt.Fprintf(&b, "features          %d, %d of them constant; deviations %.3g to %.3g, largest mean %.3g\n", f.Width, len(f.Constant), f.Least, f.Most, f.LargestMean)
	}
	for _, o := range r.Overlaps {
		fmt.Fprintf(&b, "%-17s %d with the same identifier, %d the same content, %d the same captions, %d a combination of labels that %s has\n",
			o.Second+"/"+o.First, o.IDs, o.Content, o.Captions, o.LabelRows, o.First)
	}
	r.Plan.describe(&b)
	describeFindings(&b, p, r.Findings)
	_, err := p.out.Write(b.Bytes())
	return err
}

func classSizes(all []doctor.ClassSize) string {
	parts := make([]string, len(all))
	for i, c := range all {
		parts[i] = fmt.Sprintf("%s %d", c.Word, c.Bags)
	}
	return strings.Join(parts, ", ")
}

func describePictures(s *doctor.SplitReport) string {
	p := s.Pictures
	if p == nil {
		return ""
	}
	line := fmt.Sprintf("%-17s %d pictures", s.Name, p.Files)
	for _, name := range slices.Sorted(maps.Keys(p.Types)) {
		line += fmt.Sprintf(", %d %s", p.Types[name], name)
	}
	if p.Bytes > 0 {
		line += fmt.Sprintf(", %.1f MB", float64(p.Bytes)/1e6)
	}
	line += fmt.Sprintf("; %d decoded, %d broken, %d copies, %d grey, %d odd", p.Decoded, p.Broken, p.Duplicates, p.Grey, p.Odd)
	if p.Median != nil {
		line += fmt.Sprintf("; %d×%d to %d×%d pixels, median %d×%d", p.Smallest.Width, p.Smallest.Height, p.Largest.Width, p.Largest.Height, p.Median.Width, p.Median.Height)
	}
	return line + "\n"
}

func describeRows(s *doctor.SplitReport) string {
	if s.Rows == nil {
		return ""
	}
	return fmt.Sprintf("%-17s %d rows, %d unusable, %d with missing values, %d copies\n", s.Name, s.Rows.Rows, s.Rows.Unusable, s.Rows.Incomplete, s.Rows.Duplicates)
}

func (r *runPlan) describe(b *bytes.Buffer) {
	if r == nil {
		return
	}
	for _, a := range r.Arms {
		fmt.Fprintf(b, "%-17s %d steps of %.1f ms, %.0f MiB, on %s\n", a.Arm, a.Steps, 1e3*a.StepSeconds, float64(a.DeviceBytes)/(1<<20), r.Device)
	}
	if r.Recipe != "" {
		fmt.Fprintf(b, "recipe            %s, not counted below\n", r.Recipe)
	}
	fmt.Fprintf(b, "in all            about %v, without validation\n", time.Duration(r.Seconds*float64(time.Second)).Round(time.Second))
}

// shownExamples are those on a line of text; JSON has more.
const shownExamples = 3

func describeFindings(b *bytes.Buffer, p *program, findings []doctor.Finding) {
	fmt.Fprintln(b)
	for _, f := range findings {
		weight := string(f.Weight)
		if f.Weight == doctor.Error {
			weight = p.paint(p.out, red, weight)
		}
		fmt.Fprintf(b, "%s: %s\n", weight, f.Text)
		for _, e := range f.Examples[:min(len(f.Examples), shownExamples)] {
			fmt.Fprintf(b, "    %s\n", e)
		}
		if n := len(f.Examples); n > shownExamples {
			fmt.Fprintf(b, "    ... (--json tells more)\n")
		}
		fmt.Fprintf(b, "    cure: %s\n", f.Cure)
	}
	fmt.Fprintf(b, "errors %d, warnings %d, notes %d\n", doctor.Count(findings, doctor.Error), doctor.Count(findings, doctor.Warning), doctor.Count(findings, doctor.Note))
}
