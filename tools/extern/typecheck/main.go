// Typecheck reports whether the module in the parent of the tools' folder compiles for other platforms and build tags,
// tests included, in a tenth of the time that a compiler takes for them:
//
//	go -C tools/extern run ./typecheck linux/arm64 windows/amd64 linux/amd64/noasm
//
// Each argument is a system, a processor and, if any, build tags separated by commas. Packages are checked from source,
// without cgo. Typecheck also reports literals of the module's structs with more than three fields that do not name the
// fields, outside tests and generated files.
package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH[/TAGS]...")
		os.Exit(2)
	}
	wrong := 0
	for _, platform := range os.Args[1:] {
		found, err := check(filepath.Join("..", ".."), platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %v\n", platform, err)
			os.Exit(1)
		}
		for _, e := range found {
			fmt.Fprintf(os.Stderr, "%s: %s\n", platform, e)
		}
		wrong += len(found)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

func check(dir, platform string) (wrong []string, err error) {
	parts := strings.Split(platform, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return nil, fmt.Errorf("a platform is GOOS/GOARCH or GOOS/GOARCH/TAGS")
	}
	config := &packages.Config{
		Dir:   dir,
		Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax |
			packages.NeedModule,
		Env: append(os.Environ(), "GOOS="+parts[0], "GOARCH="+parts[1], "CGO_ENABLED=0"),
	}
	if len(parts) == 3 {
		config.BuildFlags = []string{"-tags=" + parts[2]}
	}
	roots, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("no packages in %s", dir)
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			wrong = append(wrong, e.Error())
		}
	})
	for _, p := range roots {
		wrong = append(append(wrong, bodiless(p)...), unkeyed(p)...)
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), nil // a package with tests is there with them and without
}

// bodiless returns the functions without a body in a package that has no assembly for them. go/types leaves these to
// the compiler.
func bodiless(p *packages.Package) (names []string) {
	for _, f := range p.OtherFiles {
		if strings.HasSuffix(f, ".s") {
			return nil
		}
	}
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
				names = append(names, fmt.Sprintf("%s: missing function body: %s", p.Fset.Position(f.Pos()), f.Name.Name))
			}
		}
	}
	return names
}

// unkeyed returns the literals of the module's structs with more than three fields that do not name the fields.
func unkeyed(p *packages.Package) (found []string) {
	for _, file := range p.Syntax {
		if strings.HasSuffix(p.Fset.Position(file.Pos()).Filename, "_test.go") || ast.IsGenerated(file) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || len(literal.Elts) <= 3 {
				return true
			}
			if _, keyed := literal.Elts[0].(*ast.KeyValueExpr); keyed {
				return true
			}
			t := p.TypesInfo.TypeOf(literal)
			if pointer, ok := t.(*types.Pointer); ok { // an element of a list of pointers
				t = pointer.Elem()
			}
			named, ok := types.Unalias(t).(*types.Named)
			if !ok || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), p.Module.Path+"/") {
				return true
			}
			if _, ok := named.Underlying().(*types.Struct); ok {
				found = append(found, fmt.Sprintf("%s: %s has more than three fields: name them",
					p.Fset.Position(literal.Pos()), named.Obj().Name()))
			}
			return true
		})
	}
	return found
}
