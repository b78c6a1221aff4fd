package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// detailsAnnotation holds the part of a command's description that nmn help COMMAND prints after Long.
const detailsAnnotation = "nmn_details"

// details returns the annotations of a command with a longer description.
func details(text string) map[string]string { return map[string]string{detailsAnnotation: text} }

// writeHelp writes the help of a command: description, examples, subcommands and its common flags. full adds its
// details and its rare flags.
func (p *program) writeHelp(cmd *cobra.Command, full bool) {
	w, width := cmd.OutOrStdout(), 100
	if p.interactive(w) {
		width = max(60, min(p.width(w), width))
	}
	describe(w, cmd, width, full, func(s string) string { return p.paint(w, bold, s) })
}

func newHelp(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Explain a command and list all its flags",
		Long:    "Explain a command and list all its flags. nmn COMMAND --help is shorter.",
		Example: "  nmn help train",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("%s has no command %s", found.CommandPath(), strings.Join(rest, " "))
				if near := found.SuggestionsFor(rest[0]); len(near) > 0 {
					err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
				}
			}
			if err != nil {
				return usageError{err}
			}
			found.InitDefaultHelpFlag()
			p.writeHelp(found, true)
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if found, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range found.Commands() {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// describe writes the help of a command in lines of a width, with headings in a style. The short form leaves out
// details, rare flags and the flags of all commands.
func describe(w io.Writer, cmd *cobra.Command, width int, full bool, style func(string) string) {
	heading := func(s string) { fmt.Fprintln(w, style(s+":")) }
	description := cmd.Long
	if description == "" {
		description = cmd.Short + "."
	}
	fmt.Fprintln(w, strings.TrimSpace(description))
	if text := cmd.Annotations[detailsAnnotation]; full && text != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
	}
	fmt.Fprintf(w, "\n%s %s\n", style("Usage:"), usageLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintln(w)
		heading("Examples")
		fmt.Fprintln(w, strings.TrimRight(cmd.Example, "\n"))
	}
	describeCommands(w, cmd, heading)
	groups, left := groupsOf(cmd, full)
	if len(groups) > 0 {
		fmt.Fprintln(w)
	}
	for _, g := range groups {
		heading(g.name)
		fmt.Fprint(w, g.flags.FlagUsagesWrapped(width))
	}
	switch {
	case !cmd.HasParent():
		fmt.Fprintf(w, "\nnmn COMMAND --help shows a command's flags. nmn help COMMAND explains them all.\n")
	case full:
	case left > 0:
		fmt.Fprintf(w, "\n%d more flags: nmn help %s\n", left, commandName(cmd))
	default:
		fmt.Fprintf(w, "\nMore: nmn help %s\n", commandName(cmd))
	}
}

// describeCommands writes the commands below a command, by their groups.
func describeCommands(w io.Writer, cmd *cobra.Command, heading func(string)) {
	list := func(title, group string) {
		first := true
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() || c.GroupID != group {
				continue
			}
			if first {
				fmt.Fprintln(w)
				heading(title)
				first = false
			}
			fmt.Fprintf(w, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands", "")
}

func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() && !cmd.HasParent() {
		return cmd.CommandPath() + " COMMAND [flags]"
	}
	return cmd.UseLine()
}

// flagGroup are the flags under a heading.
type flagGroup struct {
	name  string
	flags *pflag.FlagSet
}

// groupsOf returns the flags of a command by their headings, in the order of declaration. Unless full is set, it leaves
// out rare flags and the flags of all commands, except at the root, and returns how many it left out.
func groupsOf(cmd *cobra.Command, full bool) (all []flagGroup, left int) {
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := otherGroup
		if a := f.Annotations[groupAnnotation]; len(a) == 1 {
			name = a[0]
		}
		if !full && cmd.HasParent() && (name == otherGroup || f.Annotations[rareAnnotation] != nil) {
			left++
			return
		}
		for _, r := range all {
			if r.name == name {
				r.flags.AddFlag(f)
				return
			}
		}
		flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
		flags.SortFlags = false
		flags.AddFlag(f)
		all = append(all, flagGroup{name, flags})
	}
	for _, set := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		set.SortFlags = false
		set.VisitAll(add)
	}
	return all, left
}
