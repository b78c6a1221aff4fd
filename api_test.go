package nmn_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// publicPackage is a row of the table of public packages in docs/guide/library.md.
var publicPackage = regexp.MustCompile("(?m)^\\| `([a-z/]+)` ")

// TestAPI_IsAsWritten holds what other programs build upon: api.txt lists it, and a change of it shows in a diff.
func TestAPI_IsAsWritten(t *testing.T) {
	_, table, found := strings.Cut(readFile(t, "docs/guide/library.md"), "## Public packages")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := publicPackage.FindAllStringSubmatch(table, -1)
	if !found || len(rows) < 3 {
		t.Fatalf("docs/guide/library.md lists %d public packages, want 3 at least", len(rows))
	}
	var api bytes.Buffer
	api.WriteString("# What the public packages declare. go test . -run API -update writes it.\n")
	for _, row := range rows {
		writeAPI(t, &api, row[1])
	}
	const file = "api.txt"
	if *update {
		if err := os.WriteFile(file, api.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	now, then := strings.Split(api.String(), "\n"), strings.Split(readFile(t, file), "\n")
	if slices.Equal(now, then) {
		return
	}
	at := 0
	for at < min(len(now), len(then)) && now[at] == then[at] {
		at++
	}
	t.Errorf("the public API differs from %s from line %d on: if that is meant, go test . -run API -update\nnow  %q\nthen %q",
		file, at+1, now[at:min(at+1, len(now))], then[at:min(at+1, len(then))])
}

// writeAPI writes the exported declarations of a package in the order of their texts, wherever they stand, without
// comments, bodies, values and tags.
func writeAPI(t *testing.T, to *bytes.Buffer, folder string) {
	t.Helper()
	p, err := build.Default.ImportDir(folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range p.GoFiles {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			if !public(d) {
				continue
			}
			ast.Inspect(d, bare)
			var text strings.Builder
			if err := format.Node(&text, files, d); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, text.String())
		}
	}
	slices.Sort(all)
	fmt.Fprintf(to, "\n# %s\n\n%s\n", folder, strings.Join(all, "\n"))
}

// public reports whether another package can name what is declared. It cannot name methods of unexported types.
func public(d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.GenDecl:
		return d.Tok != token.IMPORT && len(d.Specs) > 0
	case *ast.FuncDecl:
		if d.Recv == nil {
			return true
		}
		of := d.Recv.List[0].Type
		for {
			switch t := of.(type) {
			case *ast.StarExpr:
				of = t.X
			case *ast.IndexExpr:
				of = t.X
			case *ast.IndexListExpr:
				of = t.X
			default:
				return ast.IsExported(t.(*ast.Ident).Name)
			}
		}
	}
	return true
}

// bare takes from a declaration what is not of its interface.
func bare(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		n.Body, n.Doc = nil, nil
	case *ast.GenDecl:
		n.Doc = nil
		if n.Tok == token.VAR {
			for _, s := range n.Specs {
				s.(*ast.ValueSpec).Values = nil
			}
		}
	case *ast.Field:
		n.Tag, n.Doc, n.Comment = nil, nil, nil
	case *ast.TypeSpec:
		n.Doc, n.Comment = nil, nil
	case *ast.ValueSpec:
		n.Doc, n.Comment = nil, nil
	}
	return true
}
