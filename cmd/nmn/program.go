package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/visible"
	ranks "nmn/ranks"
	"nmn/text"
)

// program holds what every command shares.
type program struct {
	*terminal
	status    *statusLine // of err; all text that may meet a line of progress is written through it
	log       *slog.Logger
	verbosity int // count of --verbose
	quiet     bool
	// progress is the value of --progress.
	progress string
	// tellRest logs how many lines of the log were left out; nil if all are shown.
	tellRest func()
	// called is the command that the arguments name, for messages. It is the root until the command is known.
	called *cobra.Command
	// ranks are the ranks that run the command together, set once the command is known.
	ranks ranks.Group
}

// note prints a message on a terminal or with --verbose.
func (p *program) note(format string, args ...any) {
	if !p.quiet && (p.verbosity > 0 || p.interactive(p.err)) {
		fmt.Fprintln(p.status, visible.Line(fmt.Sprintf(format, args...)))
	}
}

// openLog points the log to standard error.
func (p *program) openLog() {
	level := slog.LevelWarn
	switch {
	case p.verbosity > 1:
		level = slog.LevelDebug
	case p.verbosity == 1:
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: attributesWithFlags}
	var handler slog.Handler = slog.NewTextHandler(p.status, options)
	if level >= slog.LevelWarn {
		few := newSparse(handler)
		handler, p.tellRest = few, func() { few.summarise(context.Background()) }
	}
	p.log = slog.New(handler)
}

// arguments wraps a check of cobra, so that its errors count as mistakes in usage.
func arguments(p *program, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			p.called = cmd
			return usagef("%s: %w", cmd.Name(), err)
		}
		return nil
	}
}

// anyNumber stands for no limit on the number of arguments.
const anyNumber = math.MaxInt

// counted is the check of commands with least to most arguments. Its error is the line to type.
func counted(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n := len(args); n < least || n > most {
			_, wanted, _ := strings.Cut(cmd.Use, " ")
			return fmt.Errorf("type %s %s; %s", cmd.CommandPath(), wanted,
				text.Count(n, "arguments")+map[bool]string{true: " is given", false: " are given"}[n == 1])
		}
		return nil
	}
}

// refuseArguments is the check of commands without arguments. At the root it reports unknown commands.
func refuseArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return usagef("%s: takes no argument, got %q", cmd.Name(), args[0])
	}
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		return usagef("there is no command %q", args[0])
	}
	return usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
}
