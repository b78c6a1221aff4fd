package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/ranks/launch"
	"nmn/run"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells report a program that SIGINT ended
	exitUnread      = 141 // as shells report a program that SIGPIPE ended: nobody reads what it prints
)

// usageError is a mistake in how the program was called: flags, arguments, configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var usage usageError
	var config *setting.Error
	var start *launch.UsageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &start):
		return exitUsage
	case errors.Is(err, run.ErrInterrupted):
		return exitInterrupted
	case errors.Is(err, errNoReader):
		return exitUnread
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailure
}

// oneLine writes an error for people: joined errors share the line, settings have the names of their flags, and what
// would not show is escaped.
func oneLine(err error) string { return visible.OneLine(withFlags(err.Error())) }

// mistaken is oneLine with the setting that is at fault under the name that the user typed: its flag, or its key in a
// file or in --set.
func (p *program) mistaken(err error) string {
	line := oneLine(err)
	var mistake *setting.Error
	if p.called == nil || !errors.As(err, &mistake) || mistake.Key == "" {
		return line
	}
	p.called.Flags().Visit(func(f *pflag.Flag) {
		if of, ok := f.Value.(*settingFlag); ok && slices.Contains(of.keys, mistake.Key) {
			line = strings.Replace(line, mistake.Key+" ", "--"+f.Name+" ", 1)
		}
	})
	return line
}
