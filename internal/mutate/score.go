package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"nmn/internal/durable"
)

// print writes a line about a package, and one about each survivor.
func (s *Score) print(w io.Writer) {
	fmt.Fprintf(w, "%-28s %4d of %d mutants: %d killed, %d survived, %d not covered: %s, %.0f s\n", s.Package, s.tried(),
		s.Mutants, s.Killed, s.Lived, s.Missed, percent(s.Killed, s.tried()), s.Seconds)
	for _, t := range s.Trials {
		if t.Verdict == survived || t.Verdict == notCovered {
			fmt.Fprintf(w, "    %-11s %s\n", t.Verdict, t.Mutant)
		}
	}
	if s.Problem != "" {
		fmt.Fprintf(w, "    %s\n", s.Problem)
	}
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", part*100/whole)
}

// possible is the share of all mutants that tests may kill, when so many of a random sample were: the upper bound of
// Wilson's interval, which holds in 95 of 100 samples.
func possible(killed, tried int) float64 {
	const z = 1.645
	n, share := float64(tried), float64(killed)/float64(tried)
	return (share + z*z/(2*n) + z*math.Sqrt(share*(1-share)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

// total is the sum of all packages.
func total(scores []*Score) *Score {
	sum := &Score{Package: "all"}
	for _, s := range scores {
		sum.Mutants += s.Mutants
		sum.Killed += s.Killed
		sum.Lived += s.Lived
		sum.Missed += s.Missed
		sum.Seconds += s.Seconds
	}
	return sum
}

// record is the file that --json writes.
type record struct {
	Commit     string   `json:"commit,omitempty"`
	Base       string   `json:"base,omitempty"`
	Seed       uint64   `json:"seed"`
	PerPackage int      `json:"per_package"`
	Packages   []*Score `json:"packages"`
}

func (r *record) write(name string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(name, append(text, '\n'), 0o666)
}

// The table of scores stands between these lines of a page.
const (
	tableBegin = "<!-- scores of mutation: written by make mutate -->\n"
	tableEnd   = "<!-- end of the scores of mutation -->"
)

// table is the record in Markdown.
func (r *record) table() string {
	var b strings.Builder
	sum := total(r.Packages)
	sample := "every mutant"
	if r.PerPackage > 0 {
		sample = fmt.Sprintf("%d mutants of each package, or all where there are fewer", r.PerPackage)
	}
	fmt.Fprintf(&b, "%s; seed %d", sample, r.Seed)
	if r.Commit != "" {
		fmt.Fprintf(&b, "; commit %.12s", r.Commit)
	}
	b.WriteString(".\n\n| package | mutants | tried | killed | survived | not covered | score |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|\n")
	rows := slices.Clone(r.Packages)
	slices.SortFunc(rows, func(a, b *Score) int { return strings.Compare(a.Package, b.Package) })
	for _, s := range append(rows, sum) {
		name := "`" + s.Package + "`"
		if s == sum {
			name = "all"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %s |\n", name, s.Mutants, s.tried(), s.Killed, s.Lived, s.Missed,
			percent(s.Killed, s.tried()))
	}
	return strings.ToUpper(b.String()[:1]) + b.String()[1:]
}

// writeTable puts a table between the marks in a page.
func writeTable(name, table string) error {
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(page), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return fmt.Errorf("%s lacks the lines %q and %q, between which the table goes", name,
			strings.TrimSpace(tableBegin), tableEnd)
	}
	return durable.WriteFile(name, []byte(before+tableBegin+"\n"+table+"\n"+tableEnd+after), 0o666)
}
