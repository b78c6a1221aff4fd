package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// leftOut are packages that the product is tested with: the oracle, the compliance suite and its devices. A
// mistake in them breaks tests.
var leftOut = []string{"tools/ref", "tools/conform", "tools/optest", "tools/emulator"}

// module is a checkout whose packages are mutated.
type module struct {
	dir, path string
	fset      *token.FileSet
	importer  types.Importer
}

// pkg is a package as built here, without files under other build tags.
type pkg struct {
	folder string // from the root of the module; "." for the root
	dir    string
	tests  bool // it has tests of its own
	files  []*source
	info   *types.Info
}

type source struct {
	name   string // from the root of the module, with slashes
	path   string
	text   []byte
	parsed *ast.File
}

// listed is the result of go list for a package.
type listed struct {
	ImportPath, Dir, Name, Export      string
	GoFiles, TestGoFiles, XTestGoFiles []string
	DepOnly                            bool
	Module                             *struct{ Path, Dir string }
}

// openModule finds the packages that patterns name in the module of a folder. It leaves programs out: their tests run
// them, which takes minutes for each mutant.
func openModule(ctx context.Context, dir string, patterns []string) (*module, []*pkg, error) {
	all, err := goList(ctx, dir, patterns)
	if err != nil {
		return nil, nil, err
	}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	m := &module{fset: token.NewFileSet()}
	m.importer = importer.ForCompiler(m.fset, "gc", func(name string) (io.ReadCloser, error) {
		if exports[name] == "" {
			return nil, fmt.Errorf("go list gave no export data of %s", name)
		}
		return os.Open(exports[name])
	})
	var packages []*pkg
	for _, l := range all {
		if l.DepOnly || l.Module == nil {
			continue
		}
		m.dir, m.path = l.Module.Dir, l.Module.Path
		folder := strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, m.path), "/")
		if slices.Contains(leftOut, folder) || l.Name == "main" || len(l.GoFiles) == 0 {
			continue
		}
		p := &pkg{folder: folder, dir: l.Dir, tests: len(l.TestGoFiles)+len(l.XTestGoFiles) > 0}
		if err := m.load(p, l.GoFiles); err != nil {
			return nil, nil, err
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		return nil, nil, fmt.Errorf("no package to mutate among %v in %s", patterns, dir)
	}
	slices.SortFunc(packages, func(a, b *pkg) int { return strings.Compare(a.folder, b.folder) })
	return m, packages, nil
}

func goList(ctx context.Context, dir string, patterns []string) ([]listed, error) {
	args := []string{"list", "-export", "-deps",
		"-json=ImportPath,Dir,Name,Export,GoFiles,TestGoFiles,XTestGoFiles,DepOnly,Module"}
	list := exec.CommandContext(ctx, "go", append(append(args, "--"), patterns...)...)
	list.Dir = dir
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %v in %s: %w\n%s", patterns, dir, err, stderr.Bytes())
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		all = append(all, l)
	}
}

// load reads and type-checks the files of a package.
func (m *module) load(p *pkg, names []string) error {
	var files []*ast.File
	for _, name := range names {
		full := filepath.Join(p.dir, name)
		text, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(m.fset, full, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.files = append(p.files, &source{name: path.Join(p.folder, name), path: full, text: text, parsed: parsed})
		files = append(files, parsed)
	}
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	if _, err := (&types.Config{Importer: m.importer}).Check(p.folder, m.fset, files, p.info); err != nil {
		return fmt.Errorf("package %s: %w", p.folder, err)
	}
	return nil
}

// compiles reports whether a package passes the type checker with a mutant, which costs less than a build.
func (m *module) compiles(p *pkg, changed *mutant) bool {
	parsed, err := parser.ParseFile(m.fset, changed.file.path, changed.text(), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	var files []*ast.File
	for _, f := range p.files {
		if f == changed.file {
			files = append(files, parsed)
		} else {
			files = append(files, f.parsed)
		}
	}
	_, err = (&types.Config{Importer: m.importer}).Check(p.folder, m.fset, files, nil)
	return err == nil
}
