package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags that have values to complete: of one of them, and of a list of them.
const (
	valuesAnnotation = "nmn_values"
	listAnnotation   = "nmn_list"
	// settingAnnotation has the keys of settings, each with the = that comes before its value.
	settingAnnotation = "nmn_settings"
)

// registerCompletions hands the values of all flags to cobra, where a shell asks for them. Cobra keeps such functions,
// and with them the whole tree of commands, for as long as the process lives; other calls keep nothing.
func registerCompletions(cmd *cobra.Command) {
	register := func(f *pflag.Flag) {
		values, list := f.Annotations[listAnnotation]
		if !list {
			values = f.Annotations[valuesAnnotation]
		}
		if keys := f.Annotations[settingAnnotation]; keys != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(keys,
				cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
		}
		if values != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completion(values, list)) // fails for a flag that has one already
		}
	}
	cmd.PersistentFlags().VisitAll(register)
	cmd.LocalNonPersistentFlags().VisitAll(register)
	for _, c := range cmd.Commands() {
		registerCompletions(c)
	}
}

func completion(values []string, list bool) cobra.CompletionFunc {
	if !list {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done := typed[:strings.LastIndexByte(typed, ',')+1]
		completed := make([]string, len(values))
		for i, v := range values {
			completed[i] = done + v
		}
		return completed, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
