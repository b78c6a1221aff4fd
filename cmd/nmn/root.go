package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/run"
)

// execute runs one command line and returns the exit code of the process.
func execute(ctx context.Context, args []string, t *terminal) int {
	p := &program{terminal: t, status: &statusLine{out: t.err}, log: slog.New(slog.DiscardHandler)}
	root := newRoot(p)
	p.called = root
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		registerCompletions(root)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if done, failed := p.offers(ctx, err); done {
		return execute(ctx, args, t)
	} else if failed != nil {
		err = failed
	}
	defer p.leaveRanks(err) // at the end: mpirun ends the job once a rank has ended with an error
	if p.tellRest != nil {
		p.tellRest()
	}
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if !p.saysError(err) || code == exitUnread { // without a message, as usual for programs in a pipe
		return code
	}
	if code == exitInterrupted && !errors.Is(err, run.ErrInterrupted) {
		err = run.ErrInterrupted
	}
	if p.progress == progressJSON || asksForJSON(args) {
		p.writeError(err, code)
		return code
	}
	line := p.whose(err, p.mistaken(err))
	if code == exitUsage {
		line += fmt.Sprintf(" (see '%s --help')", p.called.CommandPath())
	}
	fmt.Fprintln(p.err, p.paint(p.err, red, "nmn:")+" "+line+tellVideos(err, args))
	return code
}

// asksForJSON reports whether arguments contain --progress json, which is not read after a mistake in an earlier flag.
func asksForJSON(args []string) bool {
	at := slices.Index(args, "--progress")
	return slices.Contains(args, "--progress="+progressJSON) || at >= 0 && at+1 < len(args) && args[at+1] == progressJSON
}

// newRoot builds the tree of commands. Two calls share nothing.
func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "nmn",
		Short: "Train image classifiers from wrong and missing labels",
		Long: `nmn trains multi-label picture classifiers from wrong and missing labels, and finds those labels.
It estimates how often each label is wrong or missing, and needs no clean labels.`,
		Example: `  nmn train pictures/ --run-dir runs/mine   # a folder of pictures for each label
  nmn predict runs/mine new-pictures/       # what is in other pictures
  nmn audit runs/mine                       # which labels are probably wrong`,
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
	root.SetHelpCommand(newHelp(p))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { p.writeHelp(cmd, false) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		p.called = cmd
		p.openLog()
		return cmp.Or(p.joinRanks(cmd), checkFlags(cmd))
	}
	p.globalFlags(root)
	root.Flags().Bool("version", false, "print the version")
	addCommands(p, root)
	return root
}

// Help lists commands in the order in which they are added.
func init() { cobra.EnableCommandSorting = false }

// addCommands adds all commands by purpose, the everyday ones first.
func addCommands(p *program, root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []func(*program) *cobra.Command
	}{
		{"use", "Train and use", []func(*program) *cobra.Command{newTrain, newPredict, newEval, newExport, newCaption}},
		{"labels", "Find wrong labels", []func(*program) *cobra.Command{newAudit, newDoctor, newRates}},
		{"data", "Prepare data", []func(*program) *cobra.Command{newFrames, newExtract, newFeatures, newVocab, newWeights,
			newScenes, newNoise}},
		{"measure", "Measure and reproduce", []func(*program) *cobra.Command{newExperiment, newReproduce, newBench}},
		{"other", "Settings and help", []func(*program) *cobra.Command{newConfig, newVersion}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			cmd := command(p)
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.SetCompletionCommandGroupID("other")
}

func (p *program) globalFlags(root *cobra.Command) {
	flags := group{root, "Messages", root.PersistentFlags()}
	flags.set.CountVarP(&p.verbosity, "verbose", "v", "log to standard error; -vv logs more")
	flags.keep("verbose")
	flags.set.BoolVarP(&p.quiet, "quiet", "q", false, "hide progress")
	flags.keep("quiet")
	enum(flags, &p.progress, "progress", "write progress to standard error in this `form`", progressAuto, progressJSON)
	root.InitDefaultHelpFlag()
}

// mistaken is oneLine, naming the setting at fault as the user typed it: by its flag, or by its key.
func (p *program) mistaken(err error) string {
	line := oneLine(err)
	var mistake *setting.Error
	if !errors.As(err, &mistake) || mistake.Key == "" {
		return line
	}
	p.called.Flags().Visit(func(f *pflag.Flag) {
		if of, ok := f.Value.(*settingFlag); ok && slices.Contains(of.keys, mistake.Key) {
			line = strings.Replace(line, mistake.Key+" ", "--"+f.Name+" ", 1)
		}
	})
	return line
}
