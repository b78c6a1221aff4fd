//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nmn/internal/durable"
)

// count is how many faults were tried, and their results.
type count struct {
	Tried    int `json:"tried"`
	Survived int `json:"survived"`
	Lost     int `json:"lost"`
}

func (c *count) add(lost bool) {
	c.Tried++
	if lost {
		c.Lost++
	} else {
		c.Survived++
	}
}

// figures are the results of a campaign.
type figures struct {
	Date    string  `json:"date"`
	Commit  string  `json:"commit"`
	Machine string  `json:"machine"`
	Seed    uint64  `json:"seed"`
	Minutes float64 `json:"minutes"`
	count
	Missed    int               `json:"missed"` // faults that came after the end; they do not count as tried
	Kinds     map[string]*count `json:"kinds"`
	Scenarios map[string]*count `json:"scenarios"`
	Failures  []*trial          `json:"failures,omitempty"`

	mutex  sync.Mutex
	repeat string
	quiet  bool // losses are not printed
}

func newFigures(c *settings) *figures {
	f := &figures{Date: time.Now().Format(time.DateOnly), Commit: commit(), Machine: machine(), Seed: c.seed,
		Kinds: map[string]*count{}, Scenarios: map[string]*count{}, repeat: fmt.Sprintf("--seed %d", c.seed)}
	if c.everyCall {
		f.repeat += " --every-call"
	}
	return f
}

// commit names the tested version. It is empty if there is no git.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=10").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

var modelName = regexp.MustCompile(`(?m)^model name\s*: (.*)$`)

// release is the beginning of a kernel's release with its version.
var release = regexp.MustCompile(`^\d+\.\d+`)

// machine describes processors and kernel.
func machine() string {
	processor := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := modelName.FindSubmatch(text); m != nil {
			processor = string(m[1])
		}
	}
	var name unix.Utsname
	_ = unix.Uname(&name)
	version := release.FindString(unix.ByteSliceToString(name.Release[:]))
	return fmt.Sprintf("%d × %s, Linux %s", runtime.NumCPU(), processor, version)
}

// add notes a trial, and prints one that has lost something, with the command that repeats it.
func (f *figures) add(t *trial) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if t.Missed && len(t.Lost) == 0 {
		f.Missed++
		return
	}
	lost := len(t.Lost) > 0
	f.count.add(lost)
	for _, c := range []struct {
		of  map[string]*count
		key string
	}{{f.Kinds, t.Kind}, {f.Scenarios, t.Scenario}} {
		if c.of[c.key] == nil {
			c.of[c.key] = &count{}
		}
		c.of[c.key].add(lost)
	}
	if !lost {
		return
	}
	f.Failures = append(f.Failures, t)
	if f.quiet {
		return
	}
	fmt.Printf("\nLOST %s: %s\n", t.Scenario, t.What)
	for _, line := range t.Commands {
		fmt.Println("  " + line)
	}
	for _, line := range t.Lost {
		fmt.Println("  - " + strings.ReplaceAll(shortened(line), "\n", "\n    "))
	}
	fmt.Printf("  again: go run ./tools/chaos --only %s --fault %d %s\n", t.Scenario, t.Number, f.repeat)
}

// shortened keeps the beginning of a long text. The file of --json has all of it.
func shortened(text string) string {
	const most = 1500
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

func (f *figures) print() {
	fmt.Printf("\n%d faults tried in %.1f minutes, %d survived, %d lost; %d more came too late to do anything\n",
		f.Tried, f.Minutes,
		f.Survived, f.Lost, f.Missed)
	for _, kind := range slices.Sorted(maps.Keys(f.Kinds)) {
		c := f.Kinds[kind]
		fmt.Printf("  %-10s %5d tried %5d survived %5d lost\n", kind, c.Tried, c.Survived, c.Lost)
	}
}

func (f *figures) save(path string) error { return durable.SaveJSON(path, f) }

// These lines enclose the table of a page.
const (
	tableBegin = "<!-- chaos: begin -->\n"
	tableEnd   = "<!-- chaos: end -->\n"
)

// writeTable puts the figures of a campaign into a page.
func writeTable(figuresPath, page string) error {
	f, err := durable.LoadJSON[figures](figuresPath, "let chaos write it by --json")
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("--table: there are no figures in %q; name the file by --json", figuresPath)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return fmt.Errorf("%s: no lines %q and %q, between which the table stands", page, tableBegin, tableEnd)
	}
	return durable.Save(page, []byte(before+tableBegin+f.table()+tableEnd+after))
}

// table is the table in Markdown.
func (f *figures) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, commit %s, %s: %.0f minutes, seed %d, %d scenarios.\n\n", f.Date, f.Commit, f.Machine,
		f.Minutes, f.Seed,
		len(f.Scenarios))
	b.WriteString("| fault | tried | survived | lost |\n|:--|--:|--:|--:|\n")
	for _, kind := range slices.SortedFunc(maps.Keys(f.Kinds), func(a, b string) int {
		return strings.Compare(meaning[a], meaning[b])
	}) {
		c := f.Kinds[kind]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", meaning[kind], c.Tried, c.Survived, c.Lost)
	}
	fmt.Fprintf(&b, "| **all** | **%d** | **%d** | **%d** |\n", f.Tried, f.Survived, f.Lost)
	return b.String()
}
