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
)

// count is how many faults were tried, and their results.
type count struct {
	Tried    int
	Survived int
	Lost     int
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
	Date    string
	Commit  string
	Machine string
	Seed    uint64
	Minutes float64
	count
	Missed    int // faults that came after the end; they do not count as tried
	Kinds     map[string]*count
	Scenarios map[string]*count

	mutex  sync.Mutex
	repeat string
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
	fmt.Printf("\nLOST %s: %s\n", t.Scenario, t.What)
	for _, line := range t.Commands {
		fmt.Println("  " + line)
	}
	for _, line := range t.Lost {
		fmt.Println("  - " + strings.ReplaceAll(shortened(line), "\n", "\n    "))
	}
	fmt.Printf("  again: go run ./tools/chaos --only %s --fault %d %s\n", t.Scenario, t.Number, f.repeat)
}

func shortened(text string) string {
	const most = 1500
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

func (f *figures) print() {
	fmt.Printf("\n%s, commit %s, %s: %.0f minutes, seed %d, %d scenarios. %d more faults came too late to do anything.\n",
		f.Date, f.Commit, f.Machine, f.Minutes, f.Seed, len(f.Scenarios), f.Missed)
	fmt.Print("\n| fault | tried | survived | lost |\n|:--|--:|--:|--:|\n")
	for _, kind := range slices.SortedFunc(maps.Keys(f.Kinds), func(a, b string) int {
		return strings.Compare(meaning[a], meaning[b])
	}) {
		c := f.Kinds[kind]
		fmt.Printf("| %s | %d | %d | %d |\n", meaning[kind], c.Tried, c.Survived, c.Lost)
	}
	fmt.Printf("| **all** | **%d** | **%d** | **%d** |\n", f.Tried, f.Survived, f.Lost)
}
