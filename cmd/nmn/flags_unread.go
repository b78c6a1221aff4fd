package main

import (
	"strings"

	"github.com/spf13/cobra"

	"nmn/run/captioner"
)

// unreadFlags refuses the first of the flags that was given where nothing reads it; why says what does.
func unreadFlags(cmd *cobra.Command, why string, flags ...string) error {
	for _, flag := range flags {
		if cmd.Flags().Changed(flag) {
			return usagef("%s: --%s has no effect %s", commandName(cmd), flag, why)
		}
	}
	return nil
}

// unreadCaptionFlags refuses flags on clips that a captioner of these files does not read.
func unreadCaptionFlags(cmd *cobra.Command, d *captioner.DataConfig) error {
	if d.Validation.Features == "" {
		return unreadFlags(cmd, "without --val-features: give them too", "val-frames-per-row", "val-split")
	}
	return unreadFlags(cmd, "beside --val-features, which are the clips to judge by", "validation-share",
		"validation-seed")
}

// commandName is what people call a command, without the name of the program.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "nmn ") }
