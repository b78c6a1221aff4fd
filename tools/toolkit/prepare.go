package main

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed compat
var compat embed.FS

// flags are cgo's flags for the compiler and the linker.
type flags struct{ compile, link string }

// prepare writes the shadow headers and the archives of trampolines below folder. They lie in a folder named
// by their digest, because Go's build cache records the flags, not the contents of files in them.
func prepare(k kit, folder string) (flags, error) {
	cc, err := compiler()
	if err != nil {
		return flags{}, err
	}
	files, err := shadowHeaders()
	if err != nil {
		return flags{}, err
	}
	includes := includeFlags(k)
	for _, l := range libraries {
		source, err := l.source(cc, includes)
		if err != nil {
			return flags{}, err
		}
		files["lib/"+l.name+".c"] = source
	}
	home := filepath.Join(folder, digest(files))
	f := flags{
		compile: quote(append([]string{"-O2", "-I" + filepath.Join(home, "compat/include")}, includes...)),
		link:    quote([]string{"-L" + filepath.Join(home, "lib")}),
	}
	if _, err := os.Stat(home); err == nil {
		return f, nil
	}
	return f, place(home, files, cc)
}

// quote joins flags for cgo, which splits them at spaces outside of quotes.
func quote(list []string) string {
	quoted := make([]string, len(list))
	for i, flag := range list {
		quoted[i] = flag
		if strings.ContainsAny(flag, " \t'") {
			quoted[i] = `"` + flag + `"`
		}
	}
	return strings.Join(quoted, " ")
}

func shadowHeaders() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(compat, "compat", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = compat.ReadFile(path)
		return err
	})
	return files, err
}

// includeFlags leaves out the compiler's own folders: naming them would reorder them.
func includeFlags(k kit) (list []string) {
	for _, include := range []string{k.cuda.include, k.cudnn.include} {
		if !strings.HasPrefix(include, "/usr/include") {
			list = append(list, "-I"+include)
		}
	}
	return list
}

// place writes the files, compiles the archives and renames the whole folder to its place.
func place(home string, files map[string][]byte, cc string) error {
	if err := os.MkdirAll(filepath.Dir(home), 0o777); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(home), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	for name, content := range files {
		path := filepath.Join(aside, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return err
		}
	}
	for _, l := range libraries {
		if err := archive(filepath.Join(aside, "lib"), l.name, cc); err != nil {
			return err
		}
	}
	if err := os.Rename(aside, home); err != nil {
		if _, exists := os.Stat(home); exists == nil { // another build was faster, with the same content
			return nil
		}
		return err
	}
	return nil
}

func archive(folder, name, cc string) error {
	ar, err := goEnv("AR")
	if err != nil {
		return err
	}
	compile := append(strings.Fields(cc), "-O1", "-fPIC", "-c", name+".c", "-o", name+".o")
	for _, command := range [][]string{compile, {ar, "rcsD", "lib" + name + ".a", name + ".o"}} {
		c := exec.Command(command[0], command[1:]...)
		c.Dir = folder
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	return nil
}

func compiler() (string, error) {
	cc, err := goEnv("CC")
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath(strings.Fields(cc + " cc")[0]); err != nil {
		return "", fmt.Errorf("building with CUDA needs a C compiler (set CC): %w", err)
	}
	return cc, nil
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

func digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	return fmt.Sprintf("%.8x", sum.Sum(nil))
}
