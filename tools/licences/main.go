// Licences collects the licence texts of everything that the program links: of Go and its standard library, of each
// module, and of nmn itself. An image that holds the program holds them too.
//
//	go run ./tools/licences FOLDER [BUILD FLAG...]
//
// writes FOLDER/MODULE/LICENSE and the other files of a module with its terms. Build flags, such as
// -tags=cuda, choose the build.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// program is the linked program.
const program = "./cmd/nmn"

// terms are the files that state under which terms something may be used.
var terms = regexp.MustCompile(`(?i)^((licen[cs]e|copying|notice|patents|authors)([-_.][^/]*)?|licen[cs]es/[^/]+)$`)

func main() {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/licences FOLDER [BUILD FLAG...]")
		os.Exit(2)
	}
	modules, err := linked(os.Args[2:])
	if err == nil {
		err = collect(os.Args[1], modules)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: the terms of %d modules\n", os.Args[1], len(modules))
}

// module is a module that the program links, and the folder of its sources.
type module struct{ path, dir string }

// linked lists the modules, Go itself among them as "go", in the order of their paths.
func linked(flags []string) ([]module, error) {
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}"}, flags...)
	list := exec.Command("go", append(args, program)...)
	var diagnosis bytes.Buffer
	list.Stderr = &diagnosis
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(diagnosis.Bytes()))
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	modules := []module{{"go", strings.TrimSpace(string(root))}}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if m := (module{path, dir}); path != "" && !slices.Contains(modules, m) {
			modules = append(modules, m)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// collect copies the texts of all modules below a folder. A module without any is an error: it may not be
// distributed.
func collect(into string, modules []module) error {
	for _, m := range modules {
		texts, err := textsOf(m.dir)
		if err != nil {
			return fmt.Errorf("%s: its sources cannot be read (go mod download brings them): %w", m.path, err)
		}
		if len(texts) == 0 {
			return fmt.Errorf("%s has no licence text in %s", m.path, m.dir)
		}
		for _, name := range texts {
			if err := copyFile(filepath.Join(into, filepath.FromSlash(m.path), name), filepath.Join(m.dir, name)); err != nil {
				return fmt.Errorf("%s: %w", m.path, err)
			}
		}
	}
	return nil
}

// textsOf lists the licence texts in a module's folder, relative to it.
func textsOf(dir string) (names []string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	for _, depth := range []string{"*", "*/*"} {
		all, err := fs.Glob(os.DirFS(dir), depth)
		if err != nil {
			return nil, err
		}
		for _, name := range all {
			info, err := os.Stat(filepath.Join(dir, name))
			if err == nil && info.Mode().IsRegular() && terms.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
