package main

import (
	"fmt"
	"nmn/internal/setting"
	"nmn/loader/dataset"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	roomAnnotation = "nmn_room"
	otherRoom      = "Messages"
)

// room declares flags of a command under one heading of its help. The value that a variable has
// when its flag is declared is the default.
type room struct {
	cmd  *cobra.Command
	name string
	set  *pflag.FlagSet
}

// under returns the room of a heading in the flags of cmd.
func under(cmd *cobra.Command, name string) room {
	cmd.Flags().SortFlags = false
	return room{cmd, name, cmd.Flags()}
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

// keep makes a flag that was declared one of the room; target points to what it sets.
func (r room) keep(name string, target any) { r.record(name, &recorded{target: target}) }

// keepAlias is keep for another way to set what another flag sets.
func (r room) keepAlias(name string, target any) {
	r.record(name, &recorded{target: target, alias: true})
}

func (r room) record(name string, value *recorded) {
	f := r.set.Lookup(name)
	value.Value = f.Value
	f.Value = value
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[roomAnnotation] = []string{r.name}
}

func (r room) bool(v *bool, name, usage string) { r.boolP(v, name, "", usage) }

func (r room) boolP(v *bool, name, short, usage string) {
	r.set.BoolVarP(v, name, short, *v, usage)
	r.keep(name, v)
}

func (r room) int(v *int, name, usage string) {
	r.set.IntVar(v, name, *v, usage)
	r.keep(name, v)
}

func (r room) uint64(v *uint64, name, usage string) {
	r.set.Uint64Var(v, name, *v, usage)
	r.keep(name, v)
}

func (r room) float(v *float64, name, usage string) {
	r.set.Float64Var(v, name, *v, usage)
	r.keep(name, v)
}

func (r room) duration(v *time.Duration, name, usage string) {
	r.set.DurationVar(v, name, *v, usage)
	r.keep(name, v)
}

func (r room) string(v *string, name, usage string) {
	r.set.StringVar(v, name, *v, usage)
	r.keep(name, v)
}

// file is a string that names a file with one of the extensions, directory one that names a folder:
// completion knows.
func (r room) file(v *string, name, usage string, extensions ...string) {
	r.string(v, name, usage)
	_ = r.cmd.MarkFlagFilename(name, extensions...) // fails only for a flag that was not declared
}

func (r room) directory(v *string, name, usage string) {
	r.string(v, name, usage)
	_ = r.cmd.MarkFlagDirname(name)
}

// choice is a flag of few values.
type choice[T ~string] struct {
	target  *T
	allowed []T
}

func (c choice[T]) String() string {
	if c.target == nil {
		return ""
	}
	return string(*c.target)
}

func (c choice[T]) Set(s string) error {
	if !slices.Contains(c.allowed, T(s)) {
		return fmt.Errorf("want %s", setting.Alternatives(c.allowed))
	}
	*c.target = T(s)
	return nil
}

func (c choice[T]) Type() string { return "choice" }

// enum declares a flag that takes one of the allowed values, which help and completion list.
func enum[T ~string](r room, v *T, name, usage string, allowed ...T) {
	r.set.Var(choice[T]{v, allowed}, name, usage+": "+setting.Alternatives(allowed))
	r.keep(name, v)
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	_ = r.cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// list is a flag of values with commas between them. Given twice, the last one counts.
type list[T any] struct {
	target *[]T
	parse  func(string) (T, error)
	write  func(T) string
}

func (l list[T]) String() string {
	if l.target == nil {
		return ""
	}
	parts := make([]string, len(*l.target))
	for i, v := range *l.target {
		parts[i] = l.write(v)
	}
	return strings.Join(parts, ",")
}

func (l list[T]) Set(s string) error {
	values := []T{}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		v, err := l.parse(part)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		values = append(values, v)
	}
	*l.target = values
	return nil
}

func (l list[T]) Type() string { return "list" }

func (r room) ints(v *[]int, name, usage string) {
	r.set.Var(list[int]{v, number(strconv.Atoi), strconv.Itoa}, name, usage)
	r.keep(name, v)
}

func (r room) seeds(v *[]uint64, name, usage string) {
	parse := func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }
	r.set.Var(list[uint64]{v, number(parse), func(u uint64) string { return strconv.FormatUint(u, 10) }}, name, usage)
	r.keep(name, v)
}

func (r room) float32s(v *[]float32, name, usage string) {
	parse := func(s string) (float32, error) {
		f, err := strconv.ParseFloat(s, 32)
		return float32(f), err
	}
	r.set.Var(list[float32]{v, number(parse), func(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }}, name, usage)
	r.keep(name, v)
}

func (r room) floats(v *[]float64, name, usage string) {
	r.set.Var(list[float64]{v, number(parseFloat), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }}, name, usage)
	r.keep(name, v)
}

// flipLevels declares a list of levels of flipped labels.
func flipLevels(r room, v *[]dataset.FlipLevel, name, usage string) {
	parse := func(s string) (dataset.FlipLevel, error) {
		var level dataset.FlipLevel
		err := level.Set(s)
		return level, err
	}
	r.set.Var(list[dataset.FlipLevel]{v, parse, func(f dataset.FlipLevel) string { return string(f) }}, name, usage)
	r.keep(name, v)
}

// chosen declares a list whose values are among the allowed ones.
func chosen[T ~string](r room, v *[]T, name, usage string, allowed ...T) {
	parse := func(s string) (T, error) {
		if !slices.Contains(allowed, T(s)) {
			return "", fmt.Errorf("want %s", setting.Alternatives(allowed))
		}
		return T(s), nil
	}
	r.set.Var(list[T]{v, parse, func(t T) string { return string(t) }}, name, usage+": "+setting.Alternatives(allowed))
	r.keep(name, v)
	_ = r.cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done := typed[:strings.LastIndexByte(typed, ',')+1]
		values := make([]string, len(allowed))
		for i, a := range allowed {
			values[i] = done + string(a)
		}
		return values, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

func (r room) strings(v *[]string, name, usage string) {
	keep := func(s string) (string, error) { return s, nil }
	r.set.Var(list[string]{v, keep, func(s string) string { return s }}, name, usage)
	r.keep(name, v)
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// number gives a parser of strconv a message for people.
func number[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := parse(s)
		if err != nil {
			return v, fmt.Errorf("not a number of the kind wanted here")
		}
		return v, nil
	}
}
