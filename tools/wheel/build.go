package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// compile builds a program for a platform, the same bytes from the same sources wherever they lie.
func compile(p platform, made source, sources, program string) error {
	module, err := goCommand(nil, "list", "-m")
	if err != nil {
		return err
	}
	stamps := fmt.Sprintf("-s -w -buildid= -X %[1]s/run.revision=%[2]s -X %[1]s/run.version=%[3]s",
		strings.TrimSpace(module), made.revision, made.version)
	_, err = goCommand(p.environment(), "build", "-trimpath", "-buildvcs=false", "-ldflags="+stamps, "-o",
		program, sources)
	return err
}

// environment makes Go compile for the platform. It sets the instructions that a processor must have, so that
// the builder's environment does not decide.
func (p platform) environment() []string {
	return []string{"CGO_ENABLED=0", "GOOS=" + p.system, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="}
}

func goCommand(environment []string, args ...string) (string, error) {
	return output(environment, "go", args...)
}

// output runs a command and returns its standard output.
func output(environment []string, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Env = append(os.Environ(), environment...)
	var diagnosis bytes.Buffer
	command.Stderr = &diagnosis
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, bytes.TrimSpace(diagnosis.Bytes()))
	}
	return string(out), nil
}

// licences collects the terms of nmn and of all modules that its program links on a platform.
func licences(p platform, work string) ([]entry, error) {
	collector := filepath.Join(work, "licences")
	if _, err := os.Stat(collector); err != nil { // it runs here, whatever it collects for
		if _, err := goCommand([]string{"CGO_ENABLED=0"}, "build", "-o", collector, "./tools/licences"); err != nil {
			return nil, err
		}
	}
	into := filepath.Join(work, p.name, "licenses")
	if _, err := output(p.environment(), collector, into); err != nil {
		return nil, err
	}
	return filesBelow(into, "", func(string) bool { return true })
}

// pythonFiles are the modules of the package, with the wheel's version.
func pythonFiles(folder, version string) ([]entry, error) {
	files, err := filesBelow(folder, "nmn", func(name string) bool {
		return strings.HasSuffix(name, ".py") || path.Base(name) == "py.typed"
	})
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if f.name == "nmn/_version.py" {
			files[i] = entry{name: f.name,
				text: fmt.Sprintf("\"\"\"The version of the package.\"\"\"\n\n__version__ = %q\n", version)}
			return files, nil
		}
	}
	return nil, fmt.Errorf("%s holds no _version.py", folder)
}

// filesBelow lists the files of a folder that are wanted, in the order of their paths, with names below prefix.
func filesBelow(folder, prefix string, wanted func(name string) bool) (files []entry, err error) {
	err = filepath.WalkDir(folder, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		inside, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		if name := path.Join(prefix, filepath.ToSlash(inside)); wanted(name) {
			files = append(files, entry{name: name, file: file})
		}
		return nil
	})
	return files, err
}
