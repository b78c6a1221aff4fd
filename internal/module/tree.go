package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// tree is what a renaming reads: the files that may name the module, and the folders that hold packages or modules.
// All are below its root, with slashes.
type tree struct {
	files   []string
	folders map[string]bool
}

// rename gives the module at root another path. Everything is read before anything is written, and only files that
// change are written, go.mod last: after an interruption, the same call finishes the work. It returns the path that
// the module had and how many files were written.
func rename(root, to string) (from string, changed int, err error) {
	from, err = modulePath(root)
	if err != nil {
		return "", 0, err
	}
	t, err := readTree(root)
	if err != nil {
		return from, 0, err
	}
	type edit struct {
		file string
		text []byte
	}
	var edits []edit
	for _, file := range t.files {
		old, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return from, 0, err
		}
		text, err := renaming{from, to, t.folders}.apply(file, old)
		if err != nil {
			return from, 0, fmt.Errorf("cannot rename in %s: %w", file, err)
		}
		if !bytes.Equal(old, text) {
			edits = append(edits, edit{file, text})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return last(a.file) - last(b.file) })
	for _, e := range edits {
		if err := replace(filepath.Join(root, e.file), e.text); err != nil {
			return from, changed, err
		}
		changed++
	}
	return from, changed, nil
}

// last orders the go.mod at the root behind all other files.
func last(file string) int {
	if file == "go.mod" {
		return 1
	}
	return 0
}

// modulePath reads the path of the module from its go.mod.
func modulePath(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		if words := strings.Fields(line); len(words) == 2 && words[0] == "module" {
			return strings.Trim(words[1], "\"`"), nil
		}
	}
	return "", fmt.Errorf("%s has no line that names the module", filepath.Join(root, "go.mod"))
}

// readTree lists the files below root that may name the module: Go, go.mod and go.work, and scripts and texts.
func readTree(root string) (tree, error) {
	t := tree{folders: map[string]bool{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if entry.IsDir() {
			if leftOut(below, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !names(below) {
			return nil
		}
		t.files = append(t.files, below)
		if isGo(below) || entry.Name() == "go.mod" {
			t.folders[path.Dir(below)] = true
		}
		return nil
	})
	return t, err
}

// leftOut reports whether a folder holds nothing of the sources: what git keeps, what was built, and runs.
func leftOut(below, base string) bool {
	switch {
	case below == ".", base == ".ci", base == ".github":
		return false
	}
	return strings.HasPrefix(base, ".") || below == "build" || below == "runs"
}

// names reports whether a file may name a package by its import path.
func names(file string) bool {
	base := file[strings.LastIndex(file, "/")+1:]
	switch filepath.Ext(base) {
	case ".go", ".mod", ".work", ".sh", ".py", ".md", ".txt", ".yml", ".yaml", ".tmpl", ".golden":
		return true
	}
	return strings.HasPrefix(file, ".ci/") || base == "Makefile" || strings.HasPrefix(base, "Dockerfile")
}

// isGo reports whether a file is Go source of the module. Below testdata a .go file need not even parse.
func isGo(file string) bool {
	return strings.HasSuffix(file, ".go") && !strings.Contains("/"+file, "/testdata/")
}

// replace writes a file aside and renames it, so that it is the old one or the new one at every moment.
func replace(file string, text []byte) (err error) {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	aside, err := os.CreateTemp(filepath.Dir(file), ".module-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(aside.Name())
		}
	}()
	_, err = aside.Write(text)
	if err := cmp.Or(err, aside.Chmod(info.Mode().Perm()), aside.Close()); err != nil {
		return err
	}
	return os.Rename(aside.Name(), file)
}
