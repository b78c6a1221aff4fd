package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"time"
)

// baseline is the coverage and the time of a package's tests, before anything is changed.
type baseline struct {
	covers coverage
	time   time.Duration
}

// coverage has the blocks of a package by the name of the file without its folder.
type coverage map[string][]block

// block is source from one place to another, in which all or nothing runs.
type block struct {
	line, column, lastLine, lastColumn int
	ran                                bool
}

func (b block) holds(line, column int) bool {
	return (line > b.line || line == b.line && column >= b.column) &&
		(line < b.lastLine || line == b.lastLine && column <= b.lastColumn)
}

// ran reports whether the place of a mutant was run. Places in no block, the expression of a case or a
// variable outside of functions, count as run.
func (c coverage) ran(m *mutant) bool {
	inBlock := false
	for _, b := range c[path.Base(m.file.name)] {
		if b.holds(m.line, m.column) {
			if b.ran {
				return true
			}
			inBlock = true
		}
	}
	return !inBlock
}

// measure runs the tests of a package unchanged. It fails if a test does.
func (l *laboratory) measure(ctx context.Context, p *pkg) (baseline, error) {
	binary := l.binary("unchanged")
	profile := binary + ".cover"
	defer os.Remove(binary)
	defer os.Remove(profile)
	if err := l.build(ctx, p, binary, nil, "-cover"); err != nil {
		return baseline{}, err
	}
	begun := time.Now()
	out, err := l.run(ctx, p, binary, "-test.coverprofile", profile, "-test.timeout", "30m")
	if ctx.Err() != nil {
		return baseline{}, ctx.Err()
	}
	if err != nil {
		return baseline{}, fmt.Errorf("the tests of %s fail before anything is changed: %w\n%s", p.folder, err,
			out[max(0, len(out)-4000):])
	}
	b := baseline{time: time.Since(begun)}
	text, err := os.ReadFile(profile)
	if err != nil {
		return b, err
	}
	b.covers, err = parseProfile(text)
	return b, err
}

// parseProfile reads a coverage profile: after a line with its mode, lines such as
// "nmn/eval/curve.go:12.34,15.2 3 1", whose last number counts how often the block ran.
func parseProfile(text []byte) (coverage, error) {
	c := coverage{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		file, rest, _ := strings.Cut(line, ":")
		var b block
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.column, &b.lastLine, &b.lastColumn, &statements,
			&count); err != nil {
			return nil, fmt.Errorf("coverage profile: %q: %w", line, err)
		}
		b.ran = count > 0
		c[path.Base(file)] = append(c[path.Base(file)], b)
	}
	return c, nil
}
