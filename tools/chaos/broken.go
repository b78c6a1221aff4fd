//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// brokenPromise is a promise of docs/reliability.md that a change of the program breaks: chaos must notice it.
type brokenPromise struct {
	promise, how string
	file         string // of the module
	from, to     string
	only, kinds  string // scenarios and faults that should notice it, as the flags name them
}

var brokenPromises = []brokenPromise{
	{"whole files", "a file gets its name before it is synced", "internal/durable/file.go",
		"err = f.aside.replace()", "err = os.Rename(f.aside.(interface{ Name() string }).Name(), f.path)", "features-", ""},
	{"whole files", "the folder is not synced", "internal/durable/file.go",
		"return SyncFolder(filepath.Dir(f.path))", "_ = filepath.Dir(f.path)\n	return nil", "features-", ""},
	{"whole files", "files are written in their place", "internal/durable/file.go",
		"	f, err := Create(path, perm)\n	if err != nil {\n		return err\n	}\n	return f.writeAll(content)",
		"	return os.WriteFile(path, content, perm)", "noise,vocab", killed + "," + failsOn},
	{"whole files", "what a killed process has left stays", "internal/durable/file.go",
		"	removeAbandoned(path)\n", "", "extract,audit", killed},
	{"whole files", "a write that fails is no error", "internal/durable/file.go",
		"if _, err := f.Write(content); err != nil {\n		return err\n	}", "_, _ = f.Write(content)", "vocab,figure3",
		failsOn + "," + failsOnce},
	{"resumed runs", "a batch is left out", "train/resume.go", "t.at, t.saved = c.Position, c.Position",
		"if c.Position.Batch > 0 {\n			c.Position.Batch++\n		}\n		t.at, t.saved = c.Position, c.Position", "features-,scenes",
		killed + "," + signalled},
	{"resumed runs", "momentum begins anew", "train/resume.go", "t.optimizer.LoadMoments(file, c.Updates)",
		"error(nil)", "features-,scenes", killed + "," + signalled},
	{"signals", "an interrupted run is not saved", "train/trainer.go",
		"Interrupted(ctx, err, t.at.Epoch, t.at.Step, t.steps, t.save)",
		"Interrupted(ctx, err, t.at.Epoch, t.at.Step, t.steps, func() error { return nil })", "features-,scenes", signalled},
	{"a full disk", "it ends a training", "train/saving.go", "if err == nil || !durable.Full(err) {",
		"if err == nil || durable.Full(err) || true {", "features-", filled + "," + failsShort},
	{"a full disk", "the best checkpoint that waits for room is a later one", "train/checkpoint_copy.go",
		"safetensors.Copy(tensors)", "tensors, error(nil)", "features-nmn-fd", filled},
	{"one process in a run folder", "the lock does not keep others out", "run/folder/lock.go",
		"return nil, &writtenError{dir, other}", "return nothing, nil", "features-,scenes", raced},
	{"identity of data", "other data pass for the same", "internal/origin/compare.go", "f.Digest != old.Digest:",
		"f.Digest == \"\":", "features-,pictures", changed},
	{"damage on the disk", "a checksum is not compared", "format/safetensors/sums.go", "s.sum != want",
		"s.sum != want && false", "features-",
		damaged},
}

// breakPromises builds nmn with one promise broken after the other, and tries faults on it until chaos notices one, or
// the minutes are over. It prints a table in Markdown. A promise that breaks unnoticed is an error.
func (c *settings) breakPromises(ctx context.Context) error {
	dir, err := c.folder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := prepare(dir, ""); err != nil {
		return err
	}
	fmt.Print("| promise | broken so | noticed after | by |\n|:--|:--|--:|:--|\n")
	unnoticed := 0
	for i := range brokenPromises {
		b := &brokenPromises[i]
		tried, by, err := c.breakOne(ctx, b, filepath.Join(dir, fmt.Sprint("broken-", i)), dir)
		if err != nil {
			return fmt.Errorf("%s: %w", b.how, err)
		}
		after := fmt.Sprintf("fault %d", tried)
		if tried == 0 {
			after = "no fault"
		}
		if by == "" {
			by, after = "**nothing**", fmt.Sprintf("not in %d faults", tried)
			unnoticed++
		}
		fmt.Printf("| %s | %s | %s | %s |\n", b.promise, b.how, after, by)
	}
	if unnoticed > 0 {
		return fmt.Errorf("%d of %d broken promises went unnoticed", unnoticed, len(brokenPromises))
	}
	return nil
}

// breakOne says how many faults were tried until one was lost, and what was; empty for nothing.
func (c *settings) breakOne(ctx context.Context, b *brokenPromise, program, dir string) (tried int, by string,
	err error) {
	if err := b.build(ctx, program); err != nil {
		return 0, "", err
	}
	l := &lab{program: program, dir: dir, references: map[string]*reference{}}
	chosen := (&settings{only: b.only}).chosen()
	kinds := settings{seed: c.seed, kinds: b.kinds}
	f := newFigures(&kinds)
	f.quiet = true
	until := time.Now().Add(time.Duration(c.minutes * float64(time.Minute)))
	for number := 1; time.Now().Before(until) && ctx.Err() == nil; number++ {
		for _, s := range chosen {
			err := l.one(task{s, number}, &kinds, f)
			if undisturbed := (scenarioError{}); errors.As(err, &undisturbed) {
				return 0, undisturbed.Error(), nil
			}
			if err != nil {
				return f.Tried, "", err
			}
			if f.Lost > 0 {
				t := f.Failures[0]
				line, _, _ := strings.Cut(t.Lost[0], "\n")
				return f.Tried, fmt.Sprintf("%s, %s: %s", t.Scenario, t.What, line), nil
			}
		}
	}
	return f.Tried, "", ctx.Err()
}

// build builds nmn with the change.
func (b *brokenPromise) build(ctx context.Context, program string) error {
	changed, err := b.change()
	if err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.FromSlash(b.file))
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: program + ".go"}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(program+".go", changed, 0o666), os.WriteFile(program+".json", overlay,
		0o666)); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay", program+".json", "-o", program, "./cmd/nmn")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// change is the source with the promise broken.
func (b *brokenPromise) change() ([]byte, error) {
	source, err := os.ReadFile(filepath.FromSlash(b.file))
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(source), b.from) {
		return nil, fmt.Errorf("%s has no %q any more: break the promise of today's code", b.file, b.from)
	}
	return []byte(strings.Replace(string(source), b.from, b.to, 1)), nil
}
