package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelp_IsShort limits the help of every command: nmn COMMAND --help has at most 60 lines of 100 columns and three
// examples, and a line in a list of commands has at most ten words.
func TestHelp_IsShort(t *testing.T) {
	root := newRoot(&program{terminal: systemTerminal(nil)})
	root.InitDefaultCompletionCmd()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		if strings.HasPrefix(c.CommandPath(), "nmn completion") { // cobra writes its help
			return
		}
		c.InitDefaultHelpFlag()
		var short strings.Builder
		describe(&short, c, 100, false, func(s string) string { return s })
		lines := strings.Split(strings.TrimRight(short.String(), "\n"), "\n")
		if len(lines) > 60 {
			t.Errorf("%s --help has %d lines, want at most 60", c.CommandPath(), len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
		examples := 0
		for line := range strings.Lines(c.Example) {
			if strings.HasPrefix(line, "  nmn ") {
				examples++
			}
		}
		if examples > 3 {
			t.Errorf("%s has %d examples, want at most 3", c.CommandPath(), examples)
		}
		if words := len(strings.Fields(c.Short)); words > 10 {
			t.Errorf("%s: %q has %d words, want at most 10", c.CommandPath(), c.Short, words)
		}
	}
	check(root)
}

// TestHelp_FullHasEverything compares nmn help COMMAND with nmn COMMAND --help.
func TestHelp_FullHasEverything(t *testing.T) {
	short, full := must(t, "extract", "--help"), must(t, "help", "extract")
	for _, rare := range []string{"--gelu", "--verbose", "If an extraction was interrupted"} {
		if strings.Contains(short, rare) || !strings.Contains(full, rare) {
			t.Errorf("%s is in the short help, or not in the full help:\n%s", rare, full)
		}
	}
	wantParts(t, short, "nmn help extract")
	if all := must(t, "help"); all != must(t, "--help") {
		t.Errorf("nmn help is not nmn --help:\n%s", all)
	}
	wantUsage(t, call(t, "help", "trian"), "trian")
	wantUsage(t, call(t, "help", "train", "well"), "has no command well")
	wantUsage(t, call(t, "help", "tarin"), "nmn has no command tarin; did you mean train?")
}
