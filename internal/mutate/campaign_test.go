package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shop is a module with mutants that a test notices, one that no test notices, and some that no test runs.
var shop = map[string]string{
	"go.mod": "module shop\n\ngo 1.26\n",
	"till/till.go": `package till

func more(a, b int) bool { return a < b }

func unnoticed(a, b string) bool { return a == b }

func unused(l []bool) bool { return l[0] && l[1] }
`,
	"till/till_test.go": `package till

import (
	"os"
	"testing"
)

func TestAll(t *testing.T) {
	os.WriteFile("till.go", nil, 0o666) // as a mutant might
	if more(1, 1) {
		t.Error("wrong")
	}
	unnoticed("a", "b")
	if os.Getenv("NMN_DATA") != "" {
		t.Error("data of others")
	}
}
`,
	"page.md": "before\n" + tableBegin + "old\n" + tableEnd + "\nafter\n",
}

// mutated runs the program in a module, and returns what it prints.
func mutated(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	t.Setenv("NMN_DATA", dir)
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	o, err := parseOptions(append([]string{"--module", dir, "--accepted", filepath.Join(dir, "accepted.txt"), "--jobs",
		"2"}, args...), &out)
	if err != nil {
		t.Fatal(err)
	}
	err = mutate(t.Context(), o, &out)
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%d temporary folders are left", len(left))
	}
	return out.String(), err
}

func TestCampaign_VerdictsInPrintJSONAndTable(t *testing.T) {
	dir := files(t, shop)
	results := filepath.Join(dir, "results.json")
	out, err := mutated(t, dir, "--json", results, "--table", filepath.Join(dir, "page.md"), "./...")
	if err != nil {
		t.Fatal(err, out)
	}
	content, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	got := map[string]verdict{}
	for _, trial := range r.Packages[0].Trials {
		got[trial.change()] = trial.Verdict
	}
	want := map[string]verdict{
		"a < b -> a <= b": killed, "a == b -> a != b": survived, "l[0] && l[1] -> l[0] || l[1]": notCovered,
		"0 -> 1": notCovered, "1 -> 2": notCovered,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if !strings.Contains(out, "survived    till/till.go:5: equality: a == b -> a != b") {
		t.Errorf("the survivor is not told:\n%s", out)
	}
	page, err := os.ReadFile(filepath.Join(dir, "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "\nafter\n") ||
		!strings.Contains(text, "\n| `till` | 5 | 5 | 1 | 1 | 3 | 20 % |\n") || strings.Contains(text, "old") {
		t.Errorf("the page is now\n%s", text)
	}
	if source, err := os.ReadFile(filepath.Join(dir, "till", "till.go")); err != nil ||
		string(source) != shop["till/till.go"] {
		t.Errorf("the checkout has changed: %v\n%s", err, source)
	}
}

func TestCampaign_ALoopWithoutEndIsKilled(t *testing.T) {
	dir := files(t, map[string]string{
		"go.mod":       "module shop\n\ngo 1.26\n",
		"till/till.go": "package till\n\nfunc last(n int) (i int) {\n\tfor i != n {\n\t\ti = n\n\t}\n\treturn\n}\n",
		"till/till_test.go": "package till\n\nimport \"testing\"\n\n" +
			"func TestLast(t *testing.T) {\n\tif last(2) != 2 {\n\t\tt.Fail()\n\t}\n}\n",
	})
	m, packages, err := openModule(t.Context(), dir, []string{"./till"}, false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLaboratory(t.Context(), m, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := l.measure(t.Context(), packages[0])
	if err != nil {
		t.Fatal(err)
	}
	mutants := m.mutants(packages[0])
	endless := mutants[slices.IndexFunc(mutants, func(m *Mutant) bool { return m.change() == "i = n -> nothing" })]
	if trial, err := l.try(t.Context(), packages[0], b, endless); err != nil || trial.Verdict != timedOut {
		t.Errorf("%s, %v; want %s", trial.Verdict, err, timedOut)
	}
}

// TestLaboratory_BuildsWithinItsFolder keeps what go leaves when it is killed, and Close removes it.
func TestLaboratory_BuildsWithinItsFolder(t *testing.T) {
	m, packages, err := openModule(t.Context(), files(t, shop), []string{"./till"}, false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLaboratory(t.Context(), m, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.build(t.Context(), packages[0], l.binary("till"), nil, nil, "-work"); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(l.dir, "go-build*")); err != nil || len(left) == 0 {
		t.Errorf("go built elsewhere: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(l.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

func TestCampaign_TooFewKilledIsAFailure(t *testing.T) {
	content := map[string]string{"go.mod": "module shop\n\ngo 1.26\n",
		"till/till.go": "package till\n\nvar prices = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}\n"}
	if out, err := mutated(t, files(t, content), "--at-least", "60"); err == nil ||
		!strings.Contains(err.Error(), "0 of 10 mutants") {
		t.Errorf("%v, want 0 of 10\n%s", err, out)
	}
	if out, err := mutated(t, files(t, content), "--at-least", "60", "--per-package", "9"); err != nil {
		t.Errorf("nine mutants are too few to judge by: %v\n%s", err, out)
	}
}

// The bounds are those of tables: 50 of 100 may be 58, and 5 of 10 may be 74.
func TestPossible_IsWilsonsBound(t *testing.T) {
	for _, test := range []struct {
		killed, tried int
		want          float64
	}{{50, 100, .5811}, {5, 10, .7304}, {0, 10, .2130}, {10, 10, 1}} {
		if got := possible(test.killed, test.tried); math.Abs(got-test.want) > .002 {
			t.Errorf("%d of %d: %.4f, want %.4f", test.killed, test.tried, got, test.want)
		}
	}
}

// TestCampaign_ChangedPackagesAlone changes one package of two.
func TestCampaign_ChangedPackagesAlone(t *testing.T) {
	dir := files(t, map[string]string{"go.mod": "module shop\n\ngo 1.26\n",
		"till/till.go": "package till\n\nvar a = 1\n", "shelf/shelf.go": "package shelf\n\nvar b, c = 1, 2\n"})
	commit(t, dir)
	write(t, dir, map[string]string{"shelf/shelf.go": "package shelf\n\nvar b, c = 1, 2\n\nvar d = 3\n"})
	out, err := mutated(t, dir, "--changed", "HEAD", "--per-package", "1")
	if err != nil || !strings.Contains(out, "shelf.go:5: number: 3 -> 4") || strings.Contains(out, "till") ||
		!strings.Contains(out, "1 of 3 mutants") {
		t.Errorf("%v\n%s", err, out)
	}
	commit(t, dir)
	write(t, dir, map[string]string{"clerk/main.go": "package main\n\nfunc main() {}\n"})
	if out, err := mutated(t, dir, "--changed", "HEAD"); err != nil || !strings.Contains(out, errNoPackage.Error()) {
		t.Errorf("only a program has changed: %v, %q", err, out)
	}
	without := t.TempDir()
	if out, err := mutated(t, without, "--changed", "auto"); err != nil || !strings.Contains(out, errNoGit.Error()) {
		t.Errorf("without git: %v, %q", err, out)
	}
}

func TestCampaign_NothingIsTriedAfterTheBudget(t *testing.T) {
	out, err := mutated(t, files(t, shop), "--budget", "1ns")
	if err != nil || !strings.Contains(out, "1 of 1 packages were not tried") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCampaign_TestsThatFailBeforeAnyChange(t *testing.T) {
	content := map[string]string{"go.mod": "module shop\n\ngo 1.26\n", "till/till.go": "package till\n\nvar a = 1\n",
		"till/till_test.go": "package till\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Error(\"broken already\") }\n"}
	out, err := mutated(t, files(t, content))
	if err == nil || !strings.Contains(err.Error(), "broken already") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOptions_Usage(t *testing.T) {
	for _, args := range [][]string{{"--no-such-flag"}, {"--changed", "auto", "./eval"}, {"--per-package", "-1"},
		{"--jobs", "0"}} {
		if _, err := parseOptions(args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), errUsage.Error()) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
