package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"nmn/loader/dataset"
	"nmn/loader/doctor"
)

// leftOut listens to the log while data is opened: bags that are left out, and what readers warn of, are
// told there.
type leftOut struct {
	next     slog.Handler
	missing  []string // bags, with their reason
	warnings []string
}

func (l *leftOut) logger() *slog.Logger { return slog.New(l) }

// Enabled implements slog.Handler.
func (l *leftOut) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || l.next.Enabled(ctx, level)
}

// WithAttrs and WithGroup implement slog.Handler: what opens data uses neither.
func (l *leftOut) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *leftOut) WithGroup(string) slog.Handler      { return l }

// Handle implements slog.Handler. Warnings that a bag is left out go no further, because they are findings.
func (l *leftOut) Handle(ctx context.Context, r slog.Record) error {
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

const leftOutExamples = 10

// findings are what was told, held against what the configuration allows.
func (l *leftOut) findings(c *dataset.Config) (all []doctor.Finding) {
	if n := len(l.missing); n > 0 {
		f := doctor.Finding{
			Weight: doctor.Warning, Kind: "missing-files", Text: fmt.Sprintf("bags of the annotations without pictures or captions: %d; a run leaves them out", n),
			Cure: "add their files, or take them out of the annotations", Examples: l.missing[:min(n, leftOutExamples)],
		}
		if n > c.MaxBadSamples {
			f.Weight, f.Text = doctor.Error, fmt.Sprintf("bags of the annotations without pictures or captions: %d; a run leaves out %d at most", n, c.MaxBadSamples)
			f.Cure = fmt.Sprintf("add their files, or leave them out: --max-bad-samples %d", n)
		}
		all = append(all, f)
	}
	for _, w := range l.warnings {
		all = append(all, doctor.Finding{Weight: doctor.Note, Kind: "reader", Text: w, Cure: "look at these places of the file"})
	}
	return all
}
