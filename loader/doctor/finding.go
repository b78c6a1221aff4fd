package doctor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Weight is the severity of a finding.
type Weight string

const (
	Error   Weight = "error"   // a run would fail
	Warning Weight = "warning" // a run would go through, and its figures may mean something else than they seem to
	Note    Weight = "note"    // worth knowing
)

var weights = []Weight{Error, Warning, Note}

// Finding is one thing that was found, with what to do about it.
type Finding struct {
	Weight   Weight   `json:"weight"`
	Kind     string   `json:"kind"` // for machines, such as "duplicates-across"
	Text     string   `json:"text"`
	Cure     string   `json:"cure"`               // a flag, a command or a deed
	Examples []string `json:"examples,omitempty"` // some of the bags, files or words that it is about
}

// Sort orders findings by weight, and keeps the order within a weight.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(weights, a.Weight), slices.Index(weights, b.Weight))
	})
}

// Count is how many findings have a weight.
func Count(findings []Finding, w Weight) int {
	n := 0
	for _, f := range findings {
		if f.Weight == w {
			n++
		}
	}
	return n
}

const maxExamples = 10

func some(all []string) []string { return all[:min(len(all), maxExamples)] }

// repair is what to do about bags or rows that cannot be used.
const repair = "repair or remove them"

// leftOut is a finding about n bags or rows that a run leaves out, as what says: an error if it may leave out fewer,
// most of a noun. cure repairs them, and so does what another says.
func leftOut(kind, what string, n, most int, noun, cure, another string, examples []string) Finding {
	f := Finding{Weight: Warning, Kind: kind, Text: what + "; training leaves them out", Cure: cure + another,
		Examples: some(examples)}
	if n > most {
		f.Weight, f.Text = Error, fmt.Sprintf("%s; training leaves out at most %d%s", what, most, noun)
		f.Cure = fmt.Sprintf("%s, or leave them out: `data.max_bad_samples` %d", cure, n)
	}
	return f
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(max(whole, 1)))
}

// Opening listens to the log while data is opened: that bags are left out, and what readers warn of, goes there.
type Opening struct {
	next     slog.Handler
	missing  []string // bags, with their reason
	warnings []string
}

// Listen returns an Opening. Records that are no findings go on to next.
func Listen(next slog.Handler) *Opening { return &Opening{next: next} }

// Logger is the log that opens data.
func (l *Opening) Logger() *slog.Logger { return slog.New(l) }

// Enabled implements slog.Handler.
func (l *Opening) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || l.next.Enabled(ctx, level)
}

// WithAttrs and WithGroup implement slog.Handler; code that opens data uses neither.
func (l *Opening) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *Opening) WithGroup(string) slog.Handler      { return l }

// Handle implements slog.Handler. Warnings that a bag is left out go no further, because they are findings.
func (l *Opening) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return l.next.Handle(ctx, r)
	}
	var parts []string
	r.Attrs(func(a slog.Attr) bool {
		parts = append(parts, a.Value.String())
		return true
	})
	line := strings.Join(parts, ": ")
	if strings.HasSuffix(r.Message, "is missing") || strings.HasSuffix(r.Message, "is left out") {
		l.missing = append(l.missing, line)
		return nil
	}
	l.warnings = append(l.warnings, r.Message+" "+line)
	if l.next.Enabled(ctx, r.Level) {
		return l.next.Handle(ctx, r)
	}
	return nil
}

// Findings returns what was logged as findings of r. A run leaves out at most maxBadSamples bags.
func (l *Opening) Findings(r *Report, maxBadSamples int) (all []Finding) {
	if n := len(l.missing); n > 0 {
		what := fmt.Sprintf("annotated %v without %v or captions: %d", r.Samples, r.Files, n)
		all = append(all, leftOut("missing-files", what, n, maxBadSamples, "", "add their files",
			", or remove them from the annotations", l.missing))
	}
	for _, w := range l.warnings {
		all = append(all, Finding{Weight: Note, Kind: "reader", Text: w, Cure: "check these places in the file"})
	}
	return all
}
