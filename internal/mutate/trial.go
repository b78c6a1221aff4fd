package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed     verdict = "killed"
	timedOut   verdict = "timed out"   // counts as killed
	survived   verdict = "survived"    // no test failed
	notCovered verdict = "not covered" // no test runs its line; counts as survived
	noMutant   verdict = "no mutant"   // it does not compile
)

// Trial is a mutant with its verdict.
type Trial struct {
	*Mutant
	Verdict verdict `json:"verdict"`
	Seconds float64 `json:"seconds"`
}

// binary is a name for a test binary that no other has.
func (l *laboratory) binary(name string) string {
	return filepath.Join(l.dir, fmt.Sprintf("%s%d", name, l.binaries.Add(1)))
}

// try builds the tests of a package with a mutant, and runs those that reach it. The error is that of the context, or
// of the machine.
func (l *laboratory) try(ctx context.Context, p *pkg, b *baseline, m *Mutant) (Trial, error) {
	begun := time.Now()
	t := Trial{Mutant: m}
	if b == nil || !b.all.ran(m) {
		t.Verdict = notCovered
		return t, nil
	}
	binary := l.binary("mutant")
	defer removeAll(binary, binary+".go", binary+".json")
	file := p.file(m.File)
	err := l.build(ctx, p, binary, file, m.apply(file.text))
	if errors.Is(err, errBuild) {
		t.Verdict = noMutant
		return t, nil
	} else if err != nil {
		return t, err
	}
	pattern, seconds := b.selection(m)
	limit := time.Duration(5*seconds*float64(time.Second)) + l.slack
	limitedCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err = l.run(limitedCtx, p, binary, "-test.run", pattern, "-test.failfast", "-test.timeout", "0")
	t.Seconds = time.Since(begun).Seconds()
	switch {
	case ctx.Err() != nil:
		return t, ctx.Err()
	case limitedCtx.Err() != nil:
		t.Verdict = timedOut
	case err == nil:
		t.Verdict = survived
	default:
		t.Verdict = killed
	}
	return t, nil
}

func removeAll(names ...string) {
	for _, name := range names {
		os.RemoveAll(name)
	}
}
