//go:build linux && (amd64 || arm64)

package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nmn/tools/chaos/inject"
)

// syncs follows the calls of a command. A file must be on the disk before it gets its name, and its folder
// before the command ends well. Only a crash of the machine would show a missing sync otherwise.
type syncs struct {
	mutex   sync.Mutex
	written map[string]bool   // files that were written since they were synced
	named   map[string]string // folders that were not synced since, and the file that got a name there
	early   []string          // files that got their names before they were synced
	saves   map[string]int    // how often each checkpoint got its name
}

func newSyncs() *syncs {
	return &syncs{written: map[string]bool{}, named: map[string]string{}, saves: map[string]int{}}
}

// see notes a call that is made.
func (s *syncs) see(c inject.Call) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case c.Writes(), slices.Contains([]string{"writev", "ftruncate", "sendfile", "copy_file_range"}, c.Name):
		s.written[c.Path] = true
	case c.Syncs():
		delete(s.written, c.Path)
		delete(s.named, c.Path)
	case c.Names():
		for path := range s.written {
			if path == c.Old || strings.HasPrefix(path, c.Old+"/") {
				s.early = append(s.early, c.Path)
				delete(s.written, path)
			}
		}
		s.named[filepath.Dir(c.Path)] = c.Path
		if filepath.Ext(c.Path) == ".safetensors" && c.Name != "linkat" {
			s.saves[c.Path]++
		}
	}
}

// missing lists missing syncs. A command that has failed, or was ended, need not have synced its folders.
func (s *syncs) missing(well bool) (lines []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, path := range s.early {
		lines = append(lines, path+" got its name before it was synced")
	}
	for _, folder := range slices.Sorted(maps.Keys(s.named)) {
		if well {
			lines = append(lines, "the folder "+folder+" was not synced after "+s.named[folder]+" got its name")
		}
	}
	return lines
}
