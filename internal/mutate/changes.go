package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// changes are the lines of Go files that differ from a commit, committed or not.
type changes struct {
	base  string
	lines map[string][]stretch // by file, from the root of the module
}

// stretch is some lines of a file, from the first to the last.
type stretch struct{ first, last int }

const endOfFile = 1 << 30

// automatic asks for the commit that a change set out from.
const automatic = "auto"

var errNoGit = errors.New("no git history to compare with")

// changesSince asks git for the changes in the module of a folder since a commit, or since the commit that base finds.
func changesSince(ctx context.Context, dir, commit string) (*changes, error) {
	if commit == automatic {
		var err error
		if commit, err = base(ctx, dir); err != nil {
			return nil, err
		}
	}
	diff, err := git(ctx, dir, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--relative", commit,
		"--", "*.go")
	if err != nil {
		return nil, err
	}
	c := &changes{base: commit, lines: parseDiff(diff)}
	untracked, err := git(ctx, dir, "ls-files", "--others", "--exclude-standard", "--", "*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(untracked) {
		c.lines[name] = []stretch{{1, endOfFile}}
	}
	return c, nil
}

// base is where the branch left origin/main, or the commit before the last one where there is no such branch or
// nothing on top of it.
func base(ctx context.Context, dir string) (string, error) {
	head, err := git(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoGit, err)
	}
	if fork, err := git(ctx, dir, "merge-base", "HEAD", "origin/main"); err == nil && fork != head {
		return strings.TrimSpace(fork), nil
	}
	before, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD~1")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoGit, err)
	}
	return strings.TrimSpace(before), nil
}

// parseDiff reads what is new in a diff without context. A file of which lines were only taken away has none.
func parseDiff(diff string) map[string][]stretch {
	lines := map[string][]stretch{}
	name := ""
	scanner := bufio.NewScanner(strings.NewReader(diff))
	scanner.Buffer(nil, 1<<30)
	for scanner.Scan() {
		line := scanner.Text()
		if rest, ok := strings.CutPrefix(line, "--- a/"); ok {
			name = rest
			lines[name] = nil
		} else if rest, ok := strings.CutPrefix(line, "+++ b/"); ok {
			name = rest
			lines[name] = nil
		} else if strings.HasPrefix(line, "@@ ") {
			var first, n int
			added := strings.Fields(line)[2]
			if k, _ := fmt.Sscanf(added, "+%d,%d", &first, &n); k == 1 {
				n = 1
			}
			if n > 0 {
				lines[name] = append(lines[name], stretch{first, first + n - 1})
			}
		}
	}
	return lines
}

// folders are the folders of the module with a change, as patterns of packages; those of other modules below it and
// those without Go files any more are left out. The one with the most changed lines comes first.
func (c *changes) folders(dir string) []string {
	weight := map[string]int{}
	for name, stretches := range c.lines {
		folder := path.Dir(name)
		weight[folder] += 0
		for _, s := range stretches {
			weight[folder] += min(s.last-s.first+1, 1000)
		}
	}
	var patterns []string
	for folder := range weight {
		if files, _ := filepath.Glob(filepath.Join(dir, folder, "*.go")); len(files) > 0 && !nested(dir, folder) &&
			!strings.Contains("/"+folder+"/", "/testdata/") {
			patterns = append(patterns, "./"+folder)
		}
	}
	slices.SortFunc(patterns, func(a, b string) int {
		if d := weight[path.Clean(b)] - weight[path.Clean(a)]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return patterns
}

// nested reports whether a folder belongs to a module below the one in dir.
func nested(dir, folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if _, err := os.Stat(filepath.Join(dir, folder, "go.mod")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// mark notes which mutants stand on changed lines.
func (c *changes) mark(mutants []*Mutant) {
	for _, m := range mutants {
		m.Changed = slices.ContainsFunc(c.lines[m.File], func(s stretch) bool {
			return s.first <= m.Line && m.Line <= s.last
		})
	}
}

// git runs git in a folder and returns its output.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
