package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// Opening listens to the log while data is opened: that bags are left out, and what readers warn of, goes
// there.
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
