package doctor

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"nmn/internal/visible"
	"nmn/text"
)

// WriteData prints the data: a table of the splits and their content. It does not include findings.
func (r *Report) WriteData(out io.Writer) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(r.Splits) > 0 {
		fmt.Fprintln(w, "split\t"+r.Samples.String()+"\tframes\tclasses\tlabels each\twithout label\trare\tempty\tconstant")
	}
	for _, s := range r.Splits {
		l := &s.Labels
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.2f\t%d\t%d\t%d\t%d\n",
			s.Name, s.Bags, s.Frames, l.Classes, l.PerBag, l.Unlabelled, l.Rare, len(l.Never), len(l.Always))
	}
	_ = w.Flush() // into memory
	for _, s := range r.Splits[:min(len(r.Splits), 1)] {
		fmt.Fprintf(&b, "most frequent     %s\nleast frequent    %s\n", classSizes(s.Labels.Most), classSizes(s.Labels.Least))
	}
	for _, s := range r.Splits {
		fmt.Fprint(&b, describePictures(&s, r.Files), describeRows(&s))
	}
	if f := r.Features; f != nil {
		fmt.Fprintf(&b, "features          %d, %d of them constant; deviations %.3g to %.3g, largest mean %.3g\n",
			f.Width, len(f.Constant), f.Least, f.Most, f.LargestMean)
	}
	for _, o := range r.Overlaps {
		fmt.Fprintf(&b, "%-17s shared: %d identifiers, %d contents, %d captions\n", o.Second+"/"+o.First, o.IDs,
			o.Content, o.Captions)
	}
	_, err := out.Write(b.Bytes())
	return err
}

func classSizes(all []ClassSize) string {
	parts := make([]string, len(all))
	for i, c := range all {
		parts[i] = fmt.Sprintf("%s %d", visible.Line(c.Word), c.Bags)
	}
	return strings.Join(parts, ", ")
}

func describePictures(s *SplitReport, noun text.Plural) string {
	p := s.Pictures
	if p == nil {
		return ""
	}
	line := fmt.Sprintf("%-17s %d %s", s.Name, p.Files, noun)
	for _, name := range slices.Sorted(maps.Keys(p.Types)) {
		line += fmt.Sprintf(", %d %s", p.Types[name], name)
	}
	if p.Bytes > 0 {
		line += fmt.Sprintf(", %.1f MB", float64(p.Bytes)/1e6)
	}
	line += fmt.Sprintf("; %d decoded, %d broken, %d copies", p.Decoded, p.Broken, p.Duplicates)
	if p.Median != nil {
		line += fmt.Sprintf("; %d×%d to %d×%d pixels, median %d×%d",
			p.Smallest.Width, p.Smallest.Height, p.Largest.Width, p.Largest.Height, p.Median.Width, p.Median.Height)
	}
	return line + "\n"
}

func describeRows(s *SplitReport) string {
	if s.Rows == nil {
		return ""
	}
	return fmt.Sprintf("%-17s %d rows, %d unusable, %d with missing values, %d copies\n",
		s.Name, s.Rows.Rows, s.Rows.Unusable, s.Rows.Incomplete, s.Rows.Duplicates)
}

// shownExamples is the number of examples on a line of text; JSON has more.
const shownExamples = 3

// WriteFindings prints each finding with its fix, in the order given, and the number of findings of each
// weight. paint, if not nil, marks the word that begins an error.
func WriteFindings(out io.Writer, findings []Finding, paint func(string) string) error {
	var b bytes.Buffer
	for _, f := range findings {
		weight := string(f.Weight)
		if f.Weight == Error && paint != nil {
			weight = paint(weight)
		}
		fmt.Fprintf(&b, "%s: %s\n", weight, visible.Line(f.Text))
		for _, e := range f.Examples[:min(len(f.Examples), shownExamples)] {
			fmt.Fprintf(&b, "    %s\n", visible.Line(e))
		}
		if n := len(f.Examples); n > shownExamples {
			fmt.Fprintf(&b, "    ... (`doctor.json` lists more)\n")
		}
		fmt.Fprintf(&b, "    fix: %s\n", visible.Line(f.Cure))
	}
	fmt.Fprintf(&b, "errors %d, warnings %d, notes %d\n",
		Count(findings, Error), Count(findings, Warning), Count(findings, Note))
	_, err := out.Write(b.Bytes())
	return err
}
