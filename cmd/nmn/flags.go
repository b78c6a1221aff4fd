package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	groupAnnotation = "nmn_group"
	otherGroup      = "Messages"
)

// group declares flags of a command under one heading of its help. The value that a variable has
// when its flag is declared is the default.
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

// recorded is a flag's value that remembers what was given, so that it can be set again over a
// configuration file.
type recorded struct {
	pflag.Value
	given  string
	target any  // pointer to what it sets; nil where it is no single variable
	alias  bool // another flag is the first name of what it sets
}

func (r *recorded) Set(s string) error {
	r.given = s
	return r.Value.Set(s)
}

// keep makes a flag that was declared one of the group; target points to what it sets.
func (r group) keep(name string, target any) { r.record(name, &recorded{target: target}) }

// keepAlias is keep for another way to set what another flag sets.
func (r group) keepAlias(name string, target any) {
	r.record(name, &recorded{target: target, alias: true})
}

func (r group) record(name string, value *recorded) {
	f := r.set.Lookup(name)
	value.Value = f.Value
	f.Value = value
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[groupAnnotation] = []string{r.name}
}

// value declares a flag of another kind than those below; target points to what it sets.
func (r group) value(v pflag.Value, target any, name, usage string) {
	r.set.Var(v, name, usage)
	r.keep(name, target)
}

// completes lists the values of a flag for completion.
func (r group) completes(name string, values ...string) {
	r.annotate(name, valuesAnnotation, values)
}

func (r group) annotate(name, annotation string, values []string) {
	f := r.set.Lookup(name)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[annotation] = values
}

func (r group) bool(v *bool, name, usage string) { r.boolP(v, name, "", usage) }

func (r group) boolP(v *bool, name, short, usage string) {
	r.set.BoolVarP(v, name, short, *v, usage)
	r.keep(name, v)
}

func (r group) int(v *int, name, usage string) {
	r.set.IntVar(v, name, *v, usage)
	r.keep(name, v)
}

func (r group) uint64(v *uint64, name, usage string) {
	r.set.Uint64Var(v, name, *v, usage)
	r.keep(name, v)
}

func (r group) float(v *float64, name, usage string) {
	r.set.Float64Var(v, name, *v, usage)
	r.keep(name, v)
}

func (r group) duration(v *time.Duration, name, usage string) {
	r.set.DurationVar(v, name, *v, usage)
	r.keep(name, v)
}

func (r group) string(v *string, name, usage string) {
	r.set.StringVar(v, name, *v, usage)
	r.keep(name, v)
}

// file is a string that names a file with one of the extensions, directory one that names a folder:
// completion knows.
func (r group) file(v *string, name, usage string, extensions ...string) {
	r.string(v, name, usage)
	_ = r.cmd.MarkFlagFilename(name, extensions...) // fails only for a flag that was not declared
}

func (r group) directory(v *string, name, usage string) {
	r.string(v, name, usage)
	_ = r.cmd.MarkFlagDirname(name)
}
