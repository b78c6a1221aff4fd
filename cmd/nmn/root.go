package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/visible"
	ranks "nmn/ranks"
	"nmn/run"
)

// program holds what every command shares.
type program struct {
	*terminal
	status    *statusLine // of err: what is written while a line of progress may be shown goes through it
	log       *slog.Logger
	verbosity int // of --verbose: 1 for what happens, 2 for how
	quiet     bool
	// progress is its form: progressJSON, or else progressAuto.
	progress string
	// tellRest tells how many lines of the log were left out; nil where all are shown.
	tellRest func()
	// called is the command that the arguments name, for messages.
	called *cobra.Command
	// ranks are those that run the command together, once it is known which command it is.
	ranks ranks.Group
}

// execute runs one command line and returns the exit code of the process.
func execute(ctx context.Context, args []string, t *terminal) int {
	p := &program{terminal: t, status: &statusLine{out: t.err}, log: slog.New(slog.DiscardHandler)}
	root := newRoot(p)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		registerCompletions(root)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	defer p.leaveRanks(err) // at the very end: mpirun ends what is left once a rank has ended with an error
	if p.tellRest != nil {
		p.tellRest()
	}
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if !p.saysError(err) || code == exitUnread { // as every program that prints into a pipe: without a word
		return code
	}
	if code == exitInterrupted && !errors.Is(err, run.ErrInterrupted) {
		err = run.ErrInterrupted
	}
	if p.progress == progressJSON {
		p.writeError(err, code)
		return code
	}
	line := p.whose(err, p.mistaken(err))
	if code == exitUsage {
		line += fmt.Sprintf(" (see '%s --help')", p.path(root))
	}
	fmt.Fprintln(p.err, p.paint(p.err, red, "nmn:")+" "+line)
	return code
}

func (p *program) path(root *cobra.Command) string {
	if p.called == nil {
		return root.CommandPath()
	}
	return p.called.CommandPath()
}

// newRoot builds the tree of commands. Nothing of it is shared between two calls.
func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "nmn",
		Short: "Train image classifiers from wrong and missing labels",
		Long: `nmn trains multi-label concept classifiers from pictures whose labels are wrong or
missing, and needs no clean label to do it. A noise model learns how true labels
turn into the observed ones; the classifier under it predicts the true ones.`,
		Example: `  # the whole protocol on a small built-in data set, a few minutes
  nmn experiment --preset scenes

  # train one arm, then look at what it predicts
  nmn train scenes --arm nmn-fd --noise 0.4 --run-dir runs/fd
  nmn predict runs/fd pictures/`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked, err := cmd.Flags().GetBool("version"); asked && err == nil {
				return p.printVersion()
			}
			return cmd.Help()
		},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		p.called = cmd
		return usageError{hinted(cmd, err)}
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "usage: %s\n", usageLine(cmd))
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(p, cmd) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		p.called = cmd
		p.openLog()
		return p.joinRanks(cmd)
	}
	p.globalFlags(root)
	root.Flags().Bool("version", false, "print the version, as nmn version does")
	for _, command := range []func(*program) *cobra.Command{
		newDoctor, newExperiment, newReproduce, newTrain, newEval, newPredict, newExtract, newExport, newWeights,
		newRates, newAudit,
		newFeatures, newFrames, newVocab, newCaption,
		newConfig, newNoise, newScenes, newFigure3, newBench,
		newVersion,
	} {
		root.AddCommand(command(p))
	}
	return root
}

func (p *program) globalFlags(root *cobra.Command) {
	flags := group{root, "Messages", root.PersistentFlags()}
	flags.set.CountVarP(&p.verbosity, "verbose", "v", "log what happens to standard error; -vv also how")
	flags.keep("verbose")
	flags.boolP(&p.quiet, "quiet", "q", "show no progress")
	enum(flags, &p.progress, "progress", "`form` of progress on standard error", progressAuto, progressJSON)
	root.InitDefaultHelpFlag()
}

// note lets a person at a terminal, or one who asked for it, know what is going on.
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
		handler, p.tellRest = few, func() { few.tell(context.Background()) }
	}
	p.log = slog.New(handler)
}

// refuseArguments is the check of commands that take none. On the root it meets names of commands
// that do not exist.
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

// arguments wraps a check of cobra's, so that what it finds counts as a mistake in usage.
func arguments(p *program, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			p.called = cmd
			return usagef("%s: %w", cmd.Name(), err)
		}
		return nil
	}
}
