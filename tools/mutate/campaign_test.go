package main

import (
	"bytes"
	"errors"
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
}

// mutated runs the program in a module, and returns its output.
func mutated(t *testing.T, dir string) (printed string, err error) {
	t.Helper()
	t.Setenv("NMN_DATA", dir)
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	err = mutate(t.Context(), &options{dir: dir, seed: 1, patterns: []string{"./..."}}, &out)
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%d temporary folders are left", len(left))
	}
	return out.String(), err
}

func TestCampaign_Verdicts(t *testing.T) {
	dir := files(t, shop)
	printed, err := mutated(t, dir)
	if err != nil {
		t.Fatal(err, printed)
	}
	want := `    survived till/till.go:5: equality: a == b -> a != b
    survived till/till.go:7: logic: l[0] && l[1] -> l[0] || l[1]
    survived till/till.go:7: number: 0 -> 1
    survived till/till.go:7: number: 1 -> 2
till                            5 of 5 mutants: 1 killed, 4 survived: 20 %, `
	if !strings.HasPrefix(printed, want) {
		t.Errorf("printed\n%s\nwant\n%s", printed, want)
	}
	if source, err := os.ReadFile(filepath.Join(dir, "till", "till.go")); err != nil ||
		string(source) != shop["till/till.go"] {
		t.Errorf("the checkout has changed: %v\n%s", err, source)
	}
}

// TestCampaign_TestsThatFailBeforeAnyChange has one package with such tests and one after it without.
func TestCampaign_TestsThatFailBeforeAnyChange(t *testing.T) {
	content := map[string]string{"go.mod": "module shop\n\ngo 1.26\n", "till/till.go": "package till\n\nvar a = 1\n",
		"till/till_test.go": "package till\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Error(\"broken already\") " +
			"}\n",
		"yard/yard.go": "package yard\n\nvar a = 1\n"}
	printed, err := mutated(t, files(t, content))
	if err == nil || !strings.Contains(err.Error(), "broken already") {
		t.Errorf("%v\n%s", err, printed)
	}
	if !strings.Contains(printed, "yard                            1 of 1 mutants: 0 killed, 1 survived: 0 %") {
		t.Errorf("printed\n%s", printed)
	}
}

func TestCampaign_ALoopWithoutEndIsKilled(t *testing.T) {
	dir := files(t, map[string]string{
		"go.mod":       "module shop\n\ngo 1.26\n",
		"till/till.go": "package till\n\nfunc last(n int) (i int) {\n\tfor i != n {\n\t\ti = n\n\t}\n\treturn\n}\n",
		"till/till_test.go": "package till\n\nimport \"testing\"\n\n" +
			"func TestLast(t *testing.T) {\n\tif last(2) != 2 {\n\t\tt.Fail()\n\t}\n}\n",
	})
	m, packages, err := openModule(t.Context(), dir, []string{"./till"})
	must(t, err)
	l, err := newLaboratory(t.Context(), m, time.Millisecond)
	must(t, err)
	defer l.Close()
	usual, err := l.measure(t.Context(), packages[0])
	must(t, err)
	mutants := m.mutants(packages[0])
	endless := mutants[slices.IndexFunc(mutants, func(m *mutant) bool { return m.change() == "i = n -> nothing" })]
	if verdict, err := l.try(t.Context(), packages[0], usual, endless); err != nil || verdict != timedOut {
		t.Errorf("%s, %v; want %s", verdict, err, timedOut)
	}
}

// TestLaboratory_BuildsWithinItsFolder keeps the files that go leaves when it is killed, and Close removes
// them.
func TestLaboratory_BuildsWithinItsFolder(t *testing.T) {
	m, packages, err := openModule(t.Context(), files(t, shop), []string{"./till"})
	must(t, err)
	l, err := newLaboratory(t.Context(), m, 0)
	must(t, err)
	if err := l.build(t.Context(), packages[0], l.binary("till"), nil, "-work"); err != nil {
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

func TestSample_KindsTakeTurnsAndTheSeedChooses(t *testing.T) {
	m, packages := packagesOf(t, "package till\n\nvar a = []int{11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, "+
		"24}\n\nvar b = true\n")
	p := packages[0]
	sample := func(seed uint64) (changes []string) {
		c := &campaign{module: m, seed: seed, perPackage: 8}
		for _, mutant := range c.sample(p, m.mutants(p)) {
			changes = append(changes, mutant.change())
		}
		return changes
	}
	first := sample(1)
	if len(first) != 8 || !slices.Contains(first, "true -> false") {
		t.Errorf("the sample %q is not of 8 with the only boolean", first)
	}
	if again := sample(1); !slices.Equal(first, again) {
		t.Errorf("one seed chooses %q and %q", first, again)
	}
	if other := sample(2); slices.Equal(first, other) {
		t.Errorf("two seeds choose %q", first)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
