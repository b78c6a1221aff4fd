//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// count is how many faults were tried, and how many lost something.
type count struct{ tried, lost int }

// figures are the results of a campaign.
type figures struct {
	kinds  map[kind]count
	all    count
	missed int    // faults that came after the end; they do not count as tried
	repeat string // flags that repeat the campaign

	mutex sync.Mutex
}

func newFigures(c *settings) *figures {
	f := &figures{kinds: map[kind]count{}, repeat: fmt.Sprintf("--seed %d", c.seed)}
	if c.everyCall {
		f.repeat += " --every-call"
	}
	return f
}

// add notes a trial, and prints one that has lost something, with the command that repeats it.
func (f *figures) add(t *trial) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if t.Missed && len(t.Lost) == 0 {
		f.missed++
		return
	}
	of := f.kinds[t.f.Kind]
	of.tried, f.all.tried = of.tried+1, f.all.tried+1
	if len(t.Lost) > 0 {
		of.lost, f.all.lost = of.lost+1, f.all.lost+1
	}
	f.kinds[t.f.Kind] = of
	if len(t.Lost) == 0 {
		return
	}
	fmt.Printf("\nLOST %s: %+v\n", t.s.name, t.f)
	for _, line := range t.Commands {
		fmt.Println("  " + line)
	}
	for _, line := range t.Lost {
		fmt.Printf("  - %.1500s\n", strings.ReplaceAll(line, "\n", "\n    "))
	}
	fmt.Printf("  again: go run ./tools/chaos --only %s --fault %d %s\n", t.s.name, t.Number, f.repeat)
}

func (f *figures) print() {
	fmt.Printf("\n%d more faults came too late to do anything.\n\n| fault | tried | lost |\n|:--|--:|--:|\n", f.missed)
	for _, of := range slices.Sorted(maps.Keys(f.kinds)) {
		fmt.Printf("| %s | %d | %d |\n", of, f.kinds[of].tried, f.kinds[of].lost)
	}
	fmt.Printf("| **all** | **%d** | **%d** |\n", f.all.tried, f.all.lost)
}
