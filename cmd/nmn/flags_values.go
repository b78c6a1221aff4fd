package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/setting"
	"nmn/loader/dataset"
)

// choice is a flag with few values.
type choice[T ~string] struct {
	target  *T
	allowed []T
}

func (c choice[T]) String() string { return string(*c.target) }

func (c choice[T]) Set(s string) error {
	if !slices.Contains(c.allowed, T(s)) {
		return fmt.Errorf("want %s", setting.Alternatives(c.allowed))
	}
	*c.target = T(s)
	return nil
}

func (c choice[T]) Type() string { return "choice" }

// enum declares a flag that takes one of the allowed values, which help and completion list.
func enum[T ~string](r group, v *T, name, usage string, allowed ...T) {
	someOne(r, v, name, usage+": "+setting.Alternatives(allowed), allowed...)
}

// someOne declares a flag that takes one of the allowed values, which completion lists.
func someOne[T ~string](r group, v *T, name, usage string, allowed ...T) {
	r.value(choice[T]{v, allowed}, name, usage)
	r.completes(name, setting.Texts(allowed)...)
}

// optional declares a flag whose value may be left out: it then has the first of the allowed values. Completion
// lists the other values. The empty quotes keep the help from showing a value as required.
func optional[T ~string](r group, v *T, name, usage string, allowed ...T) {
	r.value(choice[T]{v, allowed}, name, "``"+usage)
	r.set.Lookup(name).NoOptDefVal = string(allowed[0])
	r.completes(name, setting.Texts(allowed[1:])...)
}

// list is a flag of comma-separated values. If it is given twice, the last value counts.
type list[T any] struct {
	target *[]T
	parse  func(string) (T, error)
}

func (l list[T]) String() string {
	parts := make([]string, len(*l.target))
	for i, v := range *l.target {
		parts[i] = fmt.Sprint(v)
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

func (l list[T]) Type() string { return listType }

const listType = "list"

func numbers[T any](r group, v *[]T, name, usage string, parse func(string) (T, error)) {
	r.value(numberList(v, parse), name, usage)
}

// numberList is a list of numbers. parse is one of strconv, whose errors get a readable message.
func numberList[T any](v *[]T, parse func(string) (T, error)) list[T] {
	return list[T]{v, func(s string) (T, error) {
		n, err := parse(s)
		if err != nil {
			err = errors.New("not a valid number here")
		}
		return n, err
	}}
}

func (r group) seeds(v *[]uint64, name, usage string) { numbers(r, v, name, usage, parseSeed) }

func parseSeed(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }

func parseFloat32(s string) (float32, error) {
	f, err := strconv.ParseFloat(s, 32)
	return float32(f), err
}

func flipLevels(r group, v *[]dataset.FlipLevel, name, usage string) {
	parse := func(s string) (dataset.FlipLevel, error) {
		var level dataset.FlipLevel
		err := level.Set(s)
		return level, err
	}
	r.value(list[dataset.FlipLevel]{v, parse}, name, usage)
}

// some declares a list whose values are among the allowed ones, which completion lists.
func some[T ~string](r group, v *[]T, name, usage string, allowed ...T) {
	parse := func(s string) (T, error) {
		if !slices.Contains(allowed, T(s)) {
			return "", fmt.Errorf("want %s", setting.Alternatives(allowed))
		}
		return T(s), nil
	}
	r.value(list[T]{v, parse}, name, usage)
	r.completes(name, setting.Texts(allowed)...)
}

func (r group) strings(v *[]string, name, usage string) {
	keep := func(s string) (string, error) { return s, nil }
	r.value(list[string]{v, keep}, name, usage)
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
