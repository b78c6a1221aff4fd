package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"nmn/eval"
	"nmn/labels/audit"
	"nmn/run"
)

// correction are the flags that change labels.
type correction struct {
	decisions string
	apply     bool
	precision float64
	output    string
}

func (c *correction) flags(r room) {
	r.file(&c.decisions, "decisions", "`file` with decisions of people (id, word, given, decision), as the page saves it", "csv")
	r.bool(&c.apply, "apply", "correct the first suspects that nobody has decided on, as many as --precision allows")
	r.float(&c.precision, "precision", "expected `share` of the labels that --apply corrects that were wrong indeed")
	r.file(&c.output, "output", "`file` for the corrected labels, .csv; FILE.changes.csv beside it tells the origin of every change", "csv")
}

func (c *correction) check(given func(string) bool) error {
	switch {
	case given("precision") && !c.apply:
		return usagef("audit: --precision belongs to --apply")
	case !(c.precision > 0 && c.precision <= 1):
		return usagef("audit: --precision is %g, want above 0 to 1", c.precision)
	case (c.apply || c.decisions != "") && c.output == "":
		return usagef("audit: --apply and --decisions need --output, the file for the corrected labels")
	case c.output != "" && !c.apply && c.decisions == "":
		return usagef("audit: --output is for corrected labels and needs --apply or --decisions; --suspects %s writes the ranked list", c.output)
	case c.output != "" && !strings.EqualFold(filepath.Ext(c.output), ".csv"):
		return usagef("audit: --output is %q, want a name that ends in .csv", c.output)
	}
	return nil
}

// correctionOutcome is what was corrected.
type correctionOutcome struct {
	Changed           int         `json:"changed"`
	Accepted          int         `json:"accepted"`
	Rejected          int         `json:"rejected"`
	Automatic         int         `json:"automatic"`
	ExpectedPrecision eval.Number `json:"expected_precision"` // of the automatic ones
	Labels            string      `json:"labels"`
	Changes           string      `json:"changes"`
}

// carryOut writes the corrected labels and the record of changes; nil where nothing was asked for.
func (c *correction) carryOut(f *auditFindings) (*correctionOutcome, error) {
	if c.output == "" {
		return nil, nil
	}
	var automatic []audit.Suspect
	if c.apply {
		open := f.decisions.Undecided(f.result.Suspects)
		automatic = open[:audit.AtPrecision(open, c.precision)]
	}
	labels, changes, err := audit.Corrected(f.in, f.decisions, automatic, fmt.Sprintf("expected precision at least %g", c.precision))
	if err != nil {
		return nil, err
	}
	o := &correctionOutcome{
		Changed: len(changes), Automatic: len(automatic), Accepted: len(changes) - len(automatic),
		ExpectedPrecision: audit.ExpectedPrecision(automatic), Labels: c.output,
		Changes: strings.TrimSuffix(c.output, filepath.Ext(c.output)) + ".changes.csv",
	}
	o.Rejected = len(f.decisions) - o.Accepted
	// The record first: labels without one would hide where they came from.
	b := run.ThisBuild()
	if err := audit.WriteChanges(o.Changes, f.in, changes, strings.TrimSpace("nmn "+b.Version+" "+b.Revision)); err != nil {
		return nil, err
	}
	return o, audit.WriteLabels(o.Labels, f.in, labels)
}

func (o *correctionOutcome) summary() string {
	s := fmt.Sprintf("%d labels are corrected in %s (%d accepted, %d by the rule", o.Changed, o.Labels, o.Accepted, o.Automatic)
	if o.ExpectedPrecision.Defined() {
		s += fmt.Sprintf(" with an expected precision of %.1f %%", 100*o.ExpectedPrecision)
	}
	return s + fmt.Sprintf("; %d rejected); %s tells why.", o.Rejected, o.Changes)
}
