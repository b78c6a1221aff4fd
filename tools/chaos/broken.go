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

// brokenPromise is a promise of docs/background/reliability.md that a change of the program breaks. Chaos
// must notice it.
type brokenPromise struct {
	promise, how string
	file         string // of the module
	from, to     string
	only, kinds  string // scenarios and faults that should notice it, as the flags name them
}

var brokenPromises = []brokenPromise{
	{promise: "whole files", how: "a file gets its name before it is synced", file: "internal/durable/file.go",
		from: "err = f.aside.replace()", to: "err = os.Rename(f.aside.(interface{ Name() string }).Name(), f.path)",
		only: "features-", kinds: ""},
	{promise: "whole files", how: "the folder is not synced", file: "internal/durable/file.go",
		from: "return SyncFolder(filepath.Dir(f.path))", to: "_ = filepath.Dir(f.path)\n	return nil", only: "features-",
		kinds: ""},
	{promise: "whole files", how: "files are written in their place", file: "internal/durable/file.go",
		from: "	f, err := Create(path, perm)\n	if err != nil {\n		return err\n	}\n	return f.writeAll(content)",
		to:   "	return os.WriteFile(path, content, perm)", only: "noise,vocab", kinds: killed + "," + failsOn},
	{promise: "whole files", how: "what a killed process has left stays", file: "internal/durable/file.go",
		from: "	removeAbandoned(path)\n", to: "", only: "extract,audit", kinds: killed},
	{promise: "whole files", how: "a write that fails is no error", file: "internal/durable/file.go",
		from: "if _, err := f.Write(content); err != nil {\n		return err\n	}", to: "_, _ = f.Write(content)",
		only: "vocab,figure3", kinds: failsOn + "," + failsOnce},
	{promise: "resumed runs", how: "a batch is left out", file: "train/resume.go",
		from: "t.at, t.saved = c.Position, c.Position",
		to:   "if c.Position.Batch > 0 {\n			c.Position.Batch++\n		}\n		t.at, t.saved = c.Position, c.Position",
		only: "features-,scenes", kinds: killed + "," + signalled},
	{promise: "resumed runs", how: "momentum starts at zero", file: "train/resume.go",
		from: "t.optimizer.LoadMoments(file, c.Updates)",
		to:   "error(nil)", only: "features-,scenes", kinds: killed + "," + signalled},
	{promise: "signals", how: "an interrupted run is not saved", file: "train/trainer.go",
		from: "Interrupted(ctx, err, t.at.Epoch, t.at.Step, t.steps, t.save)",
		to:   "Interrupted(ctx, err, t.at.Epoch, t.at.Step, t.steps, func() error { return nil })", only: "features-,scenes",
		kinds: signalled},
	{promise: "a full disk", how: "it ends a training", file: "train/saving.go",
		from: "if err == nil || !durable.Full(err) {",
		to:   "if err == nil || durable.Full(err) || true {", only: "features-", kinds: filled + "," + failsShort},
	{promise: "a full disk", how: "the best checkpoint that waits for room is a later one",
		file: "train/checkpoint_copy.go",
		from: "safetensors.Copy(tensors)", to: "tensors, error(nil)", only: "features-nmn-fd", kinds: filled},
	{promise: "one process in a run folder", how: "the lock does not keep others out", file: "run/folder/lock.go",
		from: "return nil, &writtenError{dir, other}", to: "return nothing, nil", only: "features-,scenes", kinds: raced},
	{promise: "identity of data", how: "other data pass for the same", file: "internal/origin/compare.go",
		from: "f.Digest != old.Digest:",
		to:   "f.Digest == \"\":", only: "features-,pictures", kinds: changed},
	{promise: "damage on the disk", how: "a checksum is not compared", file: "format/safetensors/sums.go",
		from: "s.sum != want",
		to:   "s.sum != want && false", only: "features-",
		kinds: damaged},
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

// breakOne returns how many faults were tried until one was lost, and which one. It is empty if none was.
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
