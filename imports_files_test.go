package nmn_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// file is a Go file with its imports, whatever its build tags are.
type file struct {
	path, folder string
	imports      []string
	doc          string // the comment of the package, if this file has it
}

func (f file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// goFiles reads the imports of all Go files of this module, without nested modules and test data.
func goFiles(t *testing.T) (files []file, module string) {
	t.Helper()
	files, err := readGoFiles()
	if err != nil {
		t.Fatal(err)
	}
	return files, pinned(t, "go.mod", `^module (\S+)$`)
}

func readGoFiles() (files []file, err error) {
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			return leaveOut(name, entry.Name())
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		f := file{path: name, folder: path.Dir(name), doc: parsed.Doc.Text()}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// leaveOut skips folders that the go tool leaves out of ./..., nested modules, and what is built.
func leaveOut(name, base string) error {
	if name == "." {
		return nil
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	if err == nil || base == "testdata" || name == "build" || name == "dist" || name == "runs" ||
		strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return filepath.SkipDir
	}
	return nil
}

// actualImports is what the files of each package that are no tests import of this module, sorted.
func actualImports(files []file, module string) map[string][]string {
	actual := map[string][]string{}
	for _, f := range files {
		if slices.Contains(withoutLine, f.folder) {
			continue
		}
		imports := actual[f.folder]
		top, _, _ := strings.Cut(f.folder, "/")
		switch {
		case slices.Contains(free, top):
			imports = []string{anythingGoes}
		case !f.test():
			for _, imported := range f.imports {
				if inner, own := strings.CutPrefix(imported, module+"/"); own && !slices.Contains(imports, inner) {
					imports = append(imports, inner)
				}
			}
		}
		slices.Sort(imports)
		actual[f.folder] = imports
	}
	return actual
}
