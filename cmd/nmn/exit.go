package main

import (
	"context"
	"errors"
	"fmt"

	"nmn/internal/setting"
	"nmn/ranks/launch"
	"nmn/run"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells report a program that SIGINT ended
	exitUnread      = 141 // as shells report a program that SIGPIPE ended: its output has no reader
)

// usageError is a mistake in flags, arguments or configuration.
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

// errNoReader is wrapped by errors of writing to an output whose reader has ended, as head does after some lines.
var errNoReader = errors.New("the output has no reader any more")
