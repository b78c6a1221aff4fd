// Typecheck reports whether the module in the parent of the tools' folder compiles for other platforms and build tags,
// tests included, in a tenth of the time that a compiler takes for them:
//
//	go -C tools/extern run ./typecheck linux/arm64 windows/amd64 linux/amd64/noasm
//
// Each argument is a system, a processor and, if any, build tags separated by commas. Packages are checked from source,
// without cgo.
package main

import (
	"fmt"
	"go/ast"
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

// check returns what a compiler would object to in the module of a folder.
func check(dir, platform string) (wrong []string, err error) {
	parts := strings.Split(platform, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return nil, fmt.Errorf("a platform is GOOS/GOARCH or GOOS/GOARCH/TAGS")
	}
	config := &packages.Config{
		Dir:   dir,
		Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax,
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
		wrong = append(wrong, bodiless(p)...)
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
