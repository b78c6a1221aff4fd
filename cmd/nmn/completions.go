package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
