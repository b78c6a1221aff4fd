package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writeHelp writes the help of a command: what it does, examples, subcommands, and its flags by their headings.
func writeHelp(p *program, cmd *cobra.Command) {
	w := cmd.OutOrStdout()
	describe(w, cmd, max(60, min(p.width(w), 110)), func(s string) string { return p.paint(w, bold, s) })
}

// describe writes the help of a command in lines of a width, with headings in a style.
func describe(w io.Writer, cmd *cobra.Command, width int, style func(string) string) {
	heading := func(s string) { fmt.Fprintf(w, "\n%s\n", style(s+":")) }
	description := cmd.Long
	if description == "" {
		description = cmd.Short + "."
	}
	fmt.Fprintln(w, strings.TrimSpace(description))
	heading("Usage")
	fmt.Fprintf(w, "  %s\n", usageLine(cmd))
	if cmd.Example != "" {
		heading("Examples")
		fmt.Fprintln(w, strings.TrimRight(cmd.Example, "\n"))
	}
	if cmd.HasAvailableSubCommands() {
		heading("Commands")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
	}
	for _, r := range groupsOf(cmd) {
		heading(r.name)
		fmt.Fprint(w, r.flags.FlagUsagesWrapped(width))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help tells more about a command.\n", cmd.CommandPath())
	}
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

// groupsOf sorts the flags of a command by their headings, in the order of declaration.
func groupsOf(cmd *cobra.Command) []flagGroup {
	var all []flagGroup
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := otherGroup
		if a := f.Annotations[groupAnnotation]; len(a) == 1 {
			name = a[0]
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
	return all
}
