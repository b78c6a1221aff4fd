package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// laboratory is a temporary folder with a copy of the module. Test binaries are built from the checkout
// itself, with a changed file as an overlay (go build -overlay), and run in the copy: a mutant may write or
// delete files that its package should not. So neither several mutants at once nor a kill leave a trace in
// the checkout.
type laboratory struct {
	dir, module, copied string
	slack               time.Duration // that tests of a mutant get beyond five times the usual
	binaries            atomic.Int64  // how many were named
}

func newLaboratory(ctx context.Context, m *module, slack time.Duration) (*laboratory, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	l := &laboratory{dir: dir, module: m.dir, copied: filepath.Join(dir, "copy"), slack: slack}
	if err := l.copyModule(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("copying %s: %w", m.dir, err), l.Close())
	}
	return l, nil
}

// Close removes the folder. Tests may have left folders in it without write permission.
func (l *laboratory) Close() error {
	filepath.WalkDir(l.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(l.dir)
}

// copyModule copies the files that git tracks or would add. If there is no git, it copies all.
func (l *laboratory) copyModule(ctx context.Context) error {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = l.module
	names, err := list.Output()
	if err != nil {
		return os.CopyFS(l.copied, os.DirFS(l.module))
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(l.copied, name), filepath.Join(l.module, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a regular file with its mode. It skips other files, and files that were deleted.
func copyFile(to, from string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	} else if err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

// errBuild is wrapped by errors of the compiler.
var errBuild = errors.New("does not build")

// binary returns a name for a test binary that no other has.
func (l *laboratory) binary(name string) string {
	return filepath.Join(l.dir, fmt.Sprintf("%s%d", name, l.binaries.Add(1)))
}

// build makes the test binary of a package, of a mutant if m is not nil.
func (l *laboratory) build(ctx context.Context, p *pkg, binary string, m *mutant, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...)
	if m != nil {
		file, overlay := binary+".go", binary+".json"
		replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file.path: file}})
		if err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(file, m.text(), 0o666), os.WriteFile(overlay, replaced, 0o666)); err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	c := exec.CommandContext(ctx, "go", append(args, "./"+p.folder)...)
	c.Dir = l.module
	c.Env = append(os.Environ(), "GOTMPDIR="+l.dir) // what a build that is ended leaves goes with the rest
	inGroup(c)
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s %w: %w\n%s", p.folder, errBuild, err, out)
	}
	return nil
}

// run runs tests of a test binary in the copy of its package, and returns their output, also with an error.
// Its temporary files lie in a folder that is removed, and its child processes end with it.
func (l *laboratory) run(ctx context.Context, p *pkg, binary string, flags ...string) ([]byte, error) {
	temporary := binary + ".tmp"
	if err := os.MkdirAll(temporary, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	program, args := limited(binary, append([]string{"-test.short"}, flags...))
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = filepath.Join(l.copied, filepath.FromSlash(p.folder))
	// A package's own tests must find its mistakes, without the files and programs that such variables name.
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "NMN_") })
	c.Env = append(own, "TMPDIR="+temporary)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.WaitDelay = 5 * time.Second
	inGroup(c)
	if err := c.Start(); err != nil {
		return nil, err
	}
	err := c.Wait()
	endGroup(c)
	return out.Bytes(), err
}
