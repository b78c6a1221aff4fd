package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/labels"
	"nmn/labels/audit"
)

// auditCommand are the flags of nmn audit.
type auditCommand struct {
	files      eval.Files
	options    audit.Options
	top        int
	classes    int
	suspects   string
	verified   string
	page       auditPage
	rows       auditRows
	correction labels.Correction
	ofRun      auditRun
	ofData     auditData
	shown      tablesOutput
}

func (a *auditCommand) check(cmd *cobra.Command) error {
	if a.verified != "" && a.options.NoiseRates != "" && !a.ofRun.on {
		return usagef("audit: --verified is for rates that are estimated, and --noise-rates gives them: leave out one")
	}
	return cmp.Or(a.page.check(cmd), a.rows.options.Validate(), a.checkCorrection())
}

func (a *auditCommand) correctionFlags(r group) {
	r.file(&a.options.Decisions, "decisions", "apply the decisions in this `file`, saved by the page", "csv")
	optional(r, &a.correction.Apply, "apply", "correct the top suspects; =force and =pooled correct more",
		labels.ApplyCareful, labels.ApplyForce, labels.ApplyPooled)
	r.float(&a.correction.Precision, "precision", "correct suspects while this `share` is expected to be right", "(0,1]")
	r.needs("apply", "precision")
	r.file(&a.correction.Labels, "output", "write the corrected labels to this `file`", "csv", "jsonl", "json", "npy")
}

func (a *auditCommand) checkCorrection() error {
	c := &a.correction
	switch {
	case (c.Apply != "" || a.options.Decisions != "") && c.Labels == "":
		return usagef("audit: --apply and --decisions need --output, the file of the corrected labels")
	case c.Labels != "" && c.Apply == "" && a.options.Decisions == "":
		return usagef("audit: --output is for corrected labels and needs --apply or --decisions; use --suspects %s "+
			"for the ranked list", c.Labels)
	case c.Labels != "" && !a.ofRun.on &&
		!slices.Contains([]string{".csv", ".jsonl", ".npy"}, strings.ToLower(filepath.Ext(c.Labels))):
		return usagef("audit: --output is %q, want a name that ends in .csv, in .jsonl for a manifest of that form, or in "+
			".npy for one class for each picture", c.Labels)
	}
	return nil
}

// labelEnding returns the ending of the file of corrected labels: .jsonl for a manifest of JSON lines, else .csv.
func (a *auditCommand) labelEnding() string {
	if strings.EqualFold(filepath.Ext(a.files.Labels), ".jsonl") {
		return ".jsonl"
	}
	return ".csv"
}

// auditData are the flags for nmn audit DATA.
type auditData struct {
	on      bool // DATA is audited
	sources sources
	runDir  string
}

func (a *auditData) flags(r group) {
	a.sources, a.runDir = newSources(), filepath.Join("runs", "audit")
	r.directory(&a.runDir, "run-dir", "train DATA in this `folder`")
	setFlags(r, &a.sources.settings)
}

// flagsOfData are the flags that need data.
var flagsOfData = []string{"run-dir", "set"}

// auditRun are the flags for nmn audit RUN.
type auditRun struct {
	on         bool // a run is audited
	foldEpochs int
	device     string
}

func (a *auditRun) flags(r group) {
	a.device = "auto"
	r.int(&a.foldEpochs, "fold-epochs", "train the nets of folds:N for this many `epochs`", "[0,1000]")
	deviceFlag(r, &a.device)
}
