// Wheel writes the wheels of the Python package. For each platform it compiles the program and adds the
// Python package, which calls it. Installing a wheel needs no compiler.
//
//	make wheel                       or    go run ./tools/wheel
//	make wheel WHEELS=linux-amd64    or    go run ./tools/wheel linux-amd64
//
// The version comes from the last tag vMAJOR.MINOR.PATCH, or from --version. Equal commits make equal bytes:
// times are SOURCE_DATE_EPOCH, or without it the time of the commit.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	into := flag.String("dist", "dist", "`folder` that the wheels are written to")
	version := flag.String("version", "", "`version` of the package by PEP 440; git's by default")
	flag.Parse()
	if err := makeWheels(*into, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

// makeWheels compiles and packs for the named platforms, or for all of them if none is named.
func makeWheels(into, version string, names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	made, err := describe(version)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "nmn-wheel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for _, p := range chosen {
		files, err := contents(p, made, work)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		name := filepath.Join(into, p.fileName(made.version))
		size, err := writeWheel(name, files, made)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("%s: %.1f MB\n", name, float64(size)/1e6)
	}
	return nil
}

// contents builds the contents of a platform's wheel.
func contents(p platform, made source, work string) ([]entry, error) {
	program := filepath.Join(work, p.name, p.program())
	if err := compile(p, made, "./cmd/nmn", program); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	if err := p.checkProgram(data); err != nil {
		return nil, err
	}
	terms, err := licences(p, work)
	if err != nil {
		return nil, err
	}
	modules, err := pythonFiles(filepath.Join("python", "nmn"), made.version)
	if err != nil {
		return nil, err
	}
	base := distribution + "-" + made.version
	files := append(modules, entry{name: base + ".data/scripts/" + p.program(), file: program, executable: true})
	var names []string
	for _, t := range terms {
		names = append(names, t.name)
		t.name = base + ".dist-info/licenses/" + t.name
		files = append(files, t)
	}
	about, err := metadata(made.version, names)
	return append(files,
		entry{name: base + ".dist-info/METADATA", text: about},
		entry{name: base + ".dist-info/WHEEL", text: p.wheelFile()}), err
}

// source is the source of the wheels.
type source struct {
	version  string
	revision string
	time     time.Time
}

// describe asks git for the version of the sources, unless one is given.
func describe(version string) (made source, err error) {
	if made.version = version; version == "" {
		described, count, err := fromGit()
		if err != nil {
			return made, fmt.Errorf("%w; without git, name the version: --version 1.2.3", err)
		}
		if made.version, err = pep440(described, count); err != nil {
			return made, err
		}
	} else if !isPEP440(version) {
		return made, fmt.Errorf("--version %q is not a version of PEP 440, such as 1.2.3, 1.2.3rc1 or 1.2.3.dev4", version)
	}
	made.revision, _ = git("rev-parse", "HEAD")
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = git("show", "--no-patch", "--format=%ct", "HEAD"); err != nil {
			return made, fmt.Errorf("%w; without git, set SOURCE_DATE_EPOCH to the time of the sources in seconds", err)
		}
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return made, fmt.Errorf("SOURCE_DATE_EPOCH: %q is no number of seconds", seconds)
	}
	// Archives have no time before 1980, and of each day every other second.
	made.time = time.Unix(max(unix, firstOfZIP.Unix()), 0).UTC()
	return made, nil
}

var firstOfZIP = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
