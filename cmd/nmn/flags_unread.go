package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// unreadFlags refuses the first of the flags that is given without effect. why names the condition.
func unreadFlags(cmd *cobra.Command, why string, flags ...string) error {
	for _, flag := range flags {
		if cmd.Flags().Changed(flag) {
			return usagef("%s: --%s has no effect %s", commandName(cmd), flag, why)
		}
	}
	return nil
}

// commandName returns the name of a command without the name of the program.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "nmn ") }
