package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags with values to complete: of a single value, and of a list.
const (
	valuesAnnotation = "nmn_values"
	listAnnotation   = "nmn_list"
	// settingAnnotation holds the keys of settings, each followed by =.
	settingAnnotation = "nmn_settings"
)

// registerCompletions registers the values of all flags with cobra when a shell asks for completions. Cobra keeps these
// functions, and so the tree of commands, until the process ends, so other calls do not register them.
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

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}
