package nmn_test

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write imports.txt and api.txt as they should be")

const tablePath = "imports.txt"

const tableHead = "# What each package imports of this module, tests apart. go test . -run Imports -update writes it.\n"

// table lists, for the folder of each package, its imports of this module: anythingGoes alone if it may import all.
type table map[string][]string

const anythingGoes = "anything"

func (t table) anything(folder string) bool { return slices.Equal(t[folder], []string{anythingGoes}) }

// below is everything that a package reaches through the table.
func (t table) below(folder string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		if t.anything(name) {
			return
		}
		for _, next := range t[name] {
			if !seen[next] {
				seen[next] = true
				visit(next)
			}
		}
	}
	visit(folder)
	return seen
}

// parseTable reads lines of the form "package: imports".
func parseTable(text string) (table, error) {
	t := table{}
	scanner := bufio.NewScanner(strings.NewReader(text))
	for scanner.Scan() {
		line := scanner.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		folder, imports, ok := strings.Cut(line, ":")
		if _, twice := t[folder]; !ok || twice {
			return nil, fmt.Errorf("%s: %q is not \"package: imports\", or there are two lines for it", tablePath, line)
		}
		t[folder] = strings.Fields(imports)
	}
	return t, scanner.Err()
}

// String is the file as parseTable reads it.
func (t table) String() string {
	var out strings.Builder
	out.WriteString(tableHead)
	for _, folder := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintln(&out, strings.TrimSpace(folder+": "+strings.Join(t[folder], " ")))
	}
	return out.String()
}

var updateOnce sync.Once

// readTable reads the table; with -update it writes it first.
func readTable(t *testing.T) table {
	t.Helper()
	if *update {
		updateOnce.Do(func() {
			text := table(actualImports(goFiles(t))).String()
			if err := os.WriteFile(tablePath, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	read, err := parseTable(readFile(t, tablePath))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const designPage = "docs/background/design.md"

// drawnLayers are the layers that docs/background/design.md draws in a box, from the top down.
func drawnLayers(text string) (drawn [][]string) {
	_, section, _ := strings.Cut(text, "\n## The packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			drawn = append(drawn, strings.Fields(line[1:strings.LastIndex(line, "|")]))
		}
	}
	return drawn
}
