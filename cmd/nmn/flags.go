package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
)

const (
	groupAnnotation    = "nmn_group"
	rareAnnotation     = "nmn_rare"
	needsAnnotation    = "nmn_needs"
	excludesAnnotation = "nmn_excludes"
	otherGroup         = "Messages"
)

// group declares flags of a command under one heading of its help. The value of a variable when its flag is declared
// is the default.
type group struct {
	cmd  *cobra.Command
	name string
	set  *pflag.FlagSet
}

// under returns the group of a heading in the flags of cmd.
func under(cmd *cobra.Command, name string) group {
	cmd.Flags().SortFlags = false
	return group{cmd, name, cmd.Flags()}
}

// value declares a flag of any type.
func (r group) value(v pflag.Value, name, usage string) {
	r.set.Var(v, name, usage)
	r.keep(name)
}

// mark adds a value to an annotation of flags.
func (r group) mark(annotation, value string, flags ...string) {
	for _, name := range flags {
		f := r.set.Lookup(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[annotation] = append(f.Annotations[annotation], value)
	}
}

// keep adds a declared flag to the group.
func (r group) keep(name string) { r.mark(groupAnnotation, r.name, name) }

// rare leaves flags of the group out of --help; nmn help COMMAND lists them.
func (r group) rare(flags ...string) { r.mark(rareAnnotation, "rare", flags...) }

// needs refuses flags that are given without another flag.
func (r group) needs(other string, flags ...string) { r.mark(needsAnnotation, other, flags...) }

// excludes refuses flags that are given together with another flag.
func (r group) excludes(other string, flags ...string) { r.mark(excludesAnnotation, other, flags...) }

// completes sets the values of a flag for completion.
func (r group) completes(name string, values ...string) {
	for _, value := range values {
		r.mark(valuesAnnotation, value, name)
	}
}

// checkFlags refuses flags that do not go with each other.
func checkFlags(cmd *cobra.Command) (err error) {
	given := func(name string) bool {
		value := cmd.Flags().Lookup(name)
		return value.Changed && value.Value.String() != "" && value.Value.String() != "false"
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, other := range f.Annotations[needsAnnotation] {
			if err == nil && !given(other) {
				err = usagef("%s: --%s belongs to --%s", commandName(cmd), f.Name, other)
			}
		}
		for _, other := range f.Annotations[excludesAnnotation] {
			if err == nil && given(f.Name) && given(other) {
				err = usagef("%s: --%s and --%s exclude each other: leave one out", commandName(cmd), f.Name, other)
			}
		}
	})
	return err
}

// checked is a flag whose value is checked when it is given.
type checked struct {
	pflag.Value
	check func(value string) error
}

func (c checked) Set(text string) error {
	if err := c.Value.Set(text); err != nil {
		return err
	}
	return c.check(c.Value.String())
}

// limit refuses numbers outside of the ranges.
func (r group) limit(name string, ranges []setting.Range) {
	for _, limits := range ranges {
		f := r.set.Lookup(name)
		f.Value = checked{f.Value, func(value string) error {
			if x, err := strconv.ParseFloat(value, 64); err == nil && !limits.Holds(x) {
				return usagef("%s: --%s is %s, want %s", commandName(r.cmd), name, value, limits)
			}
			return nil
		}}
	}
}

func (r group) bool(v *bool, name, usage string) {
	r.set.BoolVar(v, name, *v, usage)
	r.keep(name)
}

func (r group) int(v *int, name, usage string, ranges ...setting.Range) {
	r.set.IntVar(v, name, *v, usage)
	r.limit(name, ranges)
	r.keep(name)
}

func (r group) uint64(v *uint64, name, usage string) {
	r.set.Uint64Var(v, name, *v, usage)
	r.keep(name)
}

func (r group) float(v *float64, name, usage string, ranges ...setting.Range) {
	r.set.Float64Var(v, name, *v, usage)
	r.limit(name, ranges)
	r.keep(name)
}

func (r group) duration(v *time.Duration, name, usage string) {
	r.set.DurationVar(v, name, *v, usage)
	r.keep(name)
}

func (r group) string(v *string, name, usage string) {
	r.set.StringVar(v, name, *v, usage)
	r.keep(name)
}

// file declares a string that names a file with one of the extensions, for completion.
func (r group) file(v *string, name, usage string, extensions ...string) {
	r.string(v, name, usage)
	_ = r.cmd.MarkFlagFilename(name, extensions...) // fails only for a flag that was not declared
}

// output declares a string that names a file to write, with one of the endings.
func (r group) output(v *string, name, usage string, endings ...string) {
	r.file(v, name, usage, strings.Split(strings.TrimPrefix(strings.Join(endings, " "), "."), " .")...)
	f := r.set.Lookup(name)
	f.Value = checked{f.Value, func(path string) error {
		if path == "" || slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
			return nil
		}
		return usagef("%s: --%s is %q, want a name that ends in %s", commandName(r.cmd), name, path,
			setting.Alternatives(endings))
	}}
}

// directory declares a string that names a folder, for completion.
func (r group) directory(v *string, name, usage string) {
	r.string(v, name, usage)
	_ = r.cmd.MarkFlagDirname(name)
}

// refuse refuses the first of the flags that is given. why follows its name in the message.
func refuse(cmd *cobra.Command, why string, flags ...string) error {
	for _, flag := range flags {
		if cmd.Flags().Changed(flag) {
			return usagef("%s: --%s %s", commandName(cmd), flag, why)
		}
	}
	return nil
}

// commandName returns the name of a command without the name of the program.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "nmn ") }

// valuesAnnotation holds the values of a flag to complete. Values that end in = are keys, which a value follows.
const valuesAnnotation = "nmn_values"

// registerCompletions registers the values of all flags with cobra when a shell asks for completions. Cobra keeps these
// functions, and so the tree of commands, until the process ends, so other calls do not register them.
func registerCompletions(cmd *cobra.Command) {
	register := func(f *pflag.Flag) {
		if values := f.Annotations[valuesAnnotation]; values != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completion(values, f.Value.Type() == listType)) // fails for one set twice
		}
	}
	cmd.PersistentFlags().VisitAll(register)
	cmd.LocalNonPersistentFlags().VisitAll(register)
	for _, c := range cmd.Commands() {
		registerCompletions(c)
	}
}

func completion(values []string, list bool) cobra.CompletionFunc {
	directive := cobra.ShellCompDirectiveNoFileComp
	if list || strings.HasSuffix(values[0], "=") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done := ""
		if list {
			done = typed[:strings.LastIndexByte(typed, ',')+1]
		}
		completed := make([]string, len(values))
		for i, v := range values {
			completed[i] = done + v
		}
		return completed, directive
	}
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}
