package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// files writes a folder of files, and returns it.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, content)
	return dir
}

func write(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

// packagesOf makes a module with a package of one file for each source.
func packagesOf(t *testing.T, sources ...string) (*module, []*pkg) {
	t.Helper()
	content := map[string]string{"go.mod": "module shop\n\ngo 1.26\n"}
	for i, source := range sources {
		content[fmt.Sprintf("till%02d/till.go", i)] = source
	}
	m, packages, err := openModule(t.Context(), files(t, content), []string{"./..."})
	must(t, err)
	return m, packages
}

// TestMutants_OfEachKind lists everything that is changed in a file with a place for each kind.
func TestMutants_OfEachKind(t *testing.T) {
	const head = "package till\n\nimport (\n\t\"errors\"\n\t\"io\"\n\t\"math\"\n\t\"os\"\n)\n\n" +
		"var _, _, _, _ = errors.New, io.EOF, math.Pi, os.Open\n\n"
	tests := []struct {
		source string
		want   []string
	}{
		{"func f(a, b int) bool { return a < b }", []string{"boundary: a < b -> a <= b"}},
		{"func f(a, b float64) bool { return a < b }", []string{"boundary: a < b -> a > b"}},
		{"func f(a, b string) bool { return a == b }", []string{"equality: a == b -> a != b"}},
		{"func f(a, b bool) bool { return a && !b }", []string{"logic: a && !b -> a || !b", "negation: !b -> b"}},
		{"func f(a, b int) int { return a * -b }", []string{"arithmetic: a * -b -> a / -b", "arithmetic: -b -> b"}},
		{"func f(a, b string) string { return a + b }", nil},
		{"func f() (int, int, float64) { return 7, 64, .5 }",
			[]string{"number: 7 -> 8", "number: 64 -> 128", "number: .5 -> 1.0"}},
		{"func f() bool { return true }", []string{"boolean: true -> false"}},
		{"func f(a, b int) int { return min(a, b) }", []string{"extreme: min(a, b) -> max"}},
		{"func f(a float64) float64 { return math.Floor(a) }", []string{"extreme: math.Floor(a) -> math.Ceil"}},
		{"func f(a bool) { if a { return }; f(a) }", []string{"check: a -> never", "call: f(a) -> nothing"}},
		{"func f(a bool) { if a { println() } }", []string{"negation: a -> !(a)", "call: println() -> nothing"}},
		{"func f(g func() error) error { if err := g(); err != nil { return err }; return nil }",
			[]string{"ignored: err != nil -> never", "failure: return err -> return nil"}},
		{"func f(g func() error) (int, error) { return 2, g() }",
			[]string{"failure: return 2, g() -> return 2, nil", "number: 2 -> 3"}},
		{"type t struct{ n int }\n\nfunc (t *t) f(n int) { t.n = n; t.n += n; t.n++ }",
			[]string{"assignment: t.n = n -> nothing", "arithmetic: t.n += n -> t.n -= n", "assignment: t.n += n -> nothing",
				"arithmetic: t.n++ -> t.n--"}},
		{"func f(file *os.File, tool *os.Process) { defer tool.Release(); _ = file.Sync() }",
			[]string{"deferred: defer tool.Release() -> nothing", "call: _ = file.Sync() -> nothing"}},
		{"func f(g func() error) (n int, err error) { if err := g(); n < 5 { return 2, err }; return 3, errors.Join(err) }",
			[]string{"check: n < 5 -> never", "boundary: n < 5 -> n <= 5", "number: 5 -> 6",
				"failure: return 2, err -> return 2, nil", "number: 2 -> 3",
				"failure: return 3, errors.Join(err) -> return 3, nil", "number: 3 -> 4"}},
		{"func f(i io.Closer) { defer i.Close() }", []string{"deferred: defer i.Close() -> nothing"}},
		{"func f(l []int) { for _, v := range l { if v == 3 { continue }; println(v) } }",
			[]string{"loop: l -> l[1:]", "check: v == 3 -> never", "equality: v == 3 -> v != 3", "number: 3 -> 4",
				"jump: continue -> break", "call: println(v) -> nothing"}},
		{"func f(n int) { for range n { println() } }", []string{"loop: n -> (n) - 1", "call: println() -> nothing"}},
		{"func f(a, b int) { f(b, a) }", []string{"call: f(b, a) -> nothing", "order: b, a -> a, b"}},
		{"func f(seed uint64) { g(seed) }\n\nfunc g(n uint64) {}",
			[]string{"call: g(seed) -> nothing", "seed: seed -> 0"}},
		{"func f(e int) { g(e) }\n\nfunc g(epoch int) {}", []string{"call: g(e) -> nothing", "seed: e -> 0"}},
		{"type c struct{ Seed int }\n\nfunc f(n int) c { return c{Seed: n} }", []string{"seed: n -> 0"}},
	}
	var sources []string
	for _, test := range tests {
		sources = append(sources, head+test.source+"\n")
	}
	m, packages := packagesOf(t, sources...)
	for i, test := range tests {
		p := packages[i]
		var got []string
		for _, mutant := range m.mutants(p) {
			got = append(got, string(mutant.kind)+": "+mutant.change())
			if !m.compiles(p, mutant) {
				t.Errorf("%s: %s does not compile", test.source, mutant)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.source, got, test.want)
		}
	}
}

// TestMutants_Spared has only code that no test should check.
func TestMutants_Spared(t *testing.T) {
	m, packages := packagesOf(t, "// Code generated by hand. DO NOT EDIT.\n\npackage till\n\nfunc f() int { return 1 }\n",
		`package till

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/bits"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const (
	one = iota + 1
	two
)

type room [8]int

func (r room) String() string { return fmt.Sprint(r[0] + 1) }

func f(mu *sync.Mutex, n int) error {
	mu.Lock()
	defer mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	debug.FreeOSMemory()
	slog.Info("told", "n", n+1)
	fmt.Fprintln(os.Stderr, n)
	list := make([]int, n, 2*n)
	_, _ = ctx, list
	panic(fmt.Sprint(n - 1))
}

type text struct{ *os.File }

func g(file *os.File, t *text, err error) bool {
	defer file.Close()
	defer t.Close()
	return errors.Is(err, io.EOF)
}

func h(a, b uint64) (hi, lo uint64) { return bits.Mul64(a, b) }
`)
	for _, p := range packages {
		for _, mutant := range m.mutants(p) {
			t.Errorf("%s", mutant)
		}
	}
}

// TestMutants_NothingBesideAnError changes no result that callers ignore.
func TestMutants_NothingBesideAnError(t *testing.T) {
	m, packages := packagesOf(t, `package till

import "fmt"

type fault struct{}

func (*fault) Error() string { return "" }

func f(g func() error, n int) (int, bool, error) {
	if err := g(); err != nil {
		return 1, false, err
	}
	if n > n {
		return 2, true, fmt.Errorf("more than %d", n)
	}
	return 3, true, &fault{}
}
`)
	for _, mutant := range m.mutants(packages[0]) {
		if mutant.kind == number || mutant.kind == boolean {
			t.Errorf("%s", mutant)
		}
	}
}
