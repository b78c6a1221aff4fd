//go:build linux && (amd64 || arm64)

package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// commandsOfThePage reads the reference of the command line: the help of each command, by its words.
func commandsOfThePage(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/cli.md")
	expect.OK(t, err)
	all := map[string]string{}
	heads := regexp.MustCompile("(?m)^#+ `?nmn ([a-z0-9 ]+)`?$").FindAllStringSubmatchIndex(string(page), -1)
	for i, head := range heads {
		end := len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		all[string(page[head[2]:head[3]])] = string(page[head[1]:end])
	}
	if len(all) < 20 {
		t.Fatalf("%d commands in docs/reference/cli.md", len(all))
	}
	return all
}

// writesNothing are the commands that write no file, or none that a scenario can have written: package download has the
// faults of "weights get".
var writesNothing = []string{"audit compare", "bench", "bench load", "bench machine", "bench ops", "bench step", "caption",
	"completion", "config", "eval", "version", "weights", "weights get"}

// A new command must have a scenario, or be listed as one that writes nothing.
func TestScenarios_HaveAllCommands(t *testing.T) {
	help := commandsOfThePage(t)
	var names []string
	for name := range help {
		names = append(names, name)
	}
	tried := map[string]string{}
	for _, s := range scenarios {
		tried[s.subcommand(names)] += " " + s.args
	}
	for name, text := range help {
		if strings.Contains(text, "\nCommands:\n") && !strings.Contains(text, "nmn "+name+" [") {
			continue // it only holds others
		}
		if listed := slices.Contains(writesNothing, name); (tried[name] != "") == listed {
			t.Errorf("nmn %s: in a scenario %v, listed as writing nothing %v; want one of both", name, tried[name] != "",
				listed)
		}
		for _, flag := range writingFlags(text) {
			if tried[name] != "" && !strings.Contains(tried[name]+" ", flag+" ") {
				t.Errorf("nmn %s: no scenario has its %s", name, flag)
			}
		}
	}
	for name := range tried {
		if help[name] == "" {
			t.Errorf("a scenario runs nmn %s, which docs/reference/cli.md does not have", name)
		}
	}
}

// subcommand are the words of the command line before its arguments, as "caption train".
func (s scenario) subcommand(known []string) string {
	words := s.command()
	if len(words) > 1 && slices.Contains(known, words[0]+" "+words[1]) {
		return words[0] + " " + words[1]
	}
	return words[0]
}

// writingFlags are the flags of a command that name a file or folder to write.
func writingFlags(help string) (flags []string) {
	for _, match := range regexp.MustCompile(`(?m)^ +(?:-., )?(--[a-z-]+) (?:file|folder)`).FindAllStringSubmatch(help,
		-1) {
		if slices.ContainsFunc([]string{"--output", "--page", "--rows", "--suspects", "--statistics", "--run-dir", "--apply"},
			func(begin string) bool { return strings.HasPrefix(match[1], begin) }) {
			flags = append(flags, match[1])
		}
	}
	return flags
}

func TestScenarios_NamesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios {
		if seen[s.name] {
			t.Errorf("two scenarios are called %s", s.name)
		}
		seen[s.name] = true
	}
}

// A failure is repeated by seed and number alone.
func TestDraw_FollowsFromTheSeed(t *testing.T) {
	kinds, saves := map[kind]bool{}, map[string]int{"run/last.safetensors": 9, "run/best.safetensors": 2}
	for n := range 500 {
		s := scenarios[n%len(scenarios)]
		a, b := s.draw(source(7, s.name, n), 100, saves), s.draw(source(7, s.name, n), 100, saves)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("fault %d is once %v and once %v", n, a, b)
		}
		kinds[a.Kind] = true
	}
	if len(kinds) != 15 {
		t.Errorf("500 faults are of %d kinds, want 15: %v", len(kinds), kinds)
	}
}
