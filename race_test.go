package nmn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// racedElsewhere are packages with goroutines that make race leaves out: cuda needs its toolkit, and what this one
// starts ends with a process.
var racedElsewhere = []string{"cuda"}

// TestRace_RunsWhereThereAreGoroutines holds the packages that make race names to those that start goroutines.
func TestRace_RunsWhereThereAreGoroutines(t *testing.T) {
	recipe := pinned(t, "Makefile", `^race:.*\n((?:\t.*\n)+)`)
	var patterns []string
	for _, word := range strings.Fields(recipe) {
		if folder, ok := strings.CutPrefix(word, "./"); ok {
			patterns = append(patterns, folder)
		}
	}
	files, module := goFiles(t)
	raced := func(folder string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			tree, all := strings.CutSuffix(p, "/...")
			return folder == tree || all && strings.HasPrefix(folder, tree+"/")
		})
	}
	tested := map[string]bool{}
	for _, f := range files {
		tested[f.folder] = tested[f.folder] || f.test()
	}
	for _, f := range files {
		if f.test() || !tested[f.folder] || raced(f.folder) || slices.Contains(racedElsewhere, f.folder) {
			continue
		}
		if startsGoroutines(t, f, module) {
			t.Errorf("%s starts goroutines, and make race does not test %s", f.path, f.folder)
			tested[f.folder] = false
		}
	}
}

// startsGoroutines reports whether a file has a go statement, a call of a method Go, or uses internal/parallel.
func startsGoroutines(t *testing.T, f file, module string) bool {
	t.Helper()
	if slices.Contains(f.imports, path.Join(module, "internal", "parallel")) {
		return true
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), f.path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = true
			}
		}
		return !found
	})
	return found
}
