package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"time"
)

// baseline is what is known of a package's tests before anything is changed.
type baseline struct {
	seconds float64 // of all tests together
	all     coverage
	// tests are those that were also run alone, where all of them together take long.
	tests []measured
	// unknown are the tests that were not: any line may be theirs.
	unknown []string
}

type measured struct {
	name    string
	seconds float64
	covers  coverage
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

// ran reports whether the place of a mutant was run. What lies in no block, the expression of a case or a variable
// outside of functions, is taken for run.
func (c coverage) ran(m *Mutant) bool {
	inBlock := false
	for _, b := range c[path.Base(m.File)] {
		if b.holds(m.Line, m.column) {
			if b.ran {
				return true
			}
			inBlock = true
		}
	}
	return !inBlock
}

// slow is the time of a package's tests from which on those that cannot notice a mutant are worth leaving out.
const slow = 5.0

// measure runs the tests of a package unchanged: all together and, if that takes long, each alone, for not more than
// twice that time. It fails if a test does.
func (l *laboratory) measure(ctx context.Context, p *pkg) (*baseline, error) {
	binary := l.binary("unchanged")
	defer os.Remove(binary)
	if err := l.build(ctx, p, binary, nil, nil, "-cover"); err != nil {
		return nil, err
	}
	b := &baseline{}
	var err error
	if b.all, b.seconds, err = l.covered(ctx, p, binary, "."); err != nil || b.seconds < slow {
		return b, err
	}
	list, err := l.run(ctx, p, binary, "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return nil, fmt.Errorf("the tests of %s: %w", p.folder, err)
	}
	begun := time.Now()
	for _, name := range strings.Fields(string(list)) {
		if time.Since(begun).Seconds() > 2*b.seconds {
			b.unknown = append(b.unknown, name)
			continue
		}
		covers, seconds, err := l.covered(ctx, p, binary, "^"+name+"$")
		if err != nil {
			return nil, err
		}
		b.tests = append(b.tests, measured{name, seconds, covers})
	}
	return b, nil
}

// covered runs the tests that a pattern names, and returns what they cover and how long they take.
func (l *laboratory) covered(ctx context.Context, p *pkg, binary, pattern string) (coverage, float64, error) {
	profile := binary + ".cover"
	defer os.Remove(profile)
	begun := time.Now()
	out, err := l.run(ctx, p, binary, "-test.run", pattern, "-test.coverprofile", profile, "-test.timeout", "30m")
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("the tests %s of %s fail before anything is changed: %w\n%s", pattern, p.folder, err,
			out[max(0, len(out)-4000):])
	}
	seconds := time.Since(begun).Seconds()
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, 0, err
	}
	c, err := parseProfile(text)
	return c, seconds, err
}

// parseProfile reads a coverage profile: after a line with its mode, lines such as
// "nmn/eval/curve.go:12.34,15.2 3 1", where the last number counts how often the block ran.
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

// selection is the pattern of the tests that run a mutant, and how long they take unchanged.
func (b *baseline) selection(m *Mutant) (pattern string, seconds float64) {
	if len(b.tests) == 0 {
		return ".", b.seconds
	}
	var names []string
	for _, t := range b.tests {
		if t.covers.ran(m) {
			names = append(names, t.name)
			seconds += t.seconds
		}
	}
	names = append(names, b.unknown...)
	if len(b.unknown) > 0 || len(names) == 0 {
		seconds = b.seconds
	}
	if len(names) == 0 { // no test comes here alone
		return ".", seconds
	}
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(names, "|") + ")$", seconds
}
