package folder

import (
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// Places are the settings of a configuration that name a file or a folder, by their keys. Where it lies is no part of
// what is learned: the list of data holds what is in it.
type Places map[string]*string

// ComeFrom resolves the relative paths of a run against the folder in which it was started, if the file exists there.
// So a run can be read from any folder. If the run lies below the working folder, files there take precedence: a copy
// of a project uses its own data.
func (places Places) ComeFrom(started, dir string) {
	here, err := os.Getwd()
	if started == "" || err != nil || here == started {
		return
	}
	dir, err = filepath.Abs(dir)
	inside, _ := filepath.Rel(here, dir) // empty on another drive
	own := err == nil && filepath.IsLocal(inside)
	for _, path := range places {
		if *path == "" || filepath.IsAbs(*path) || own && durable.Exists(*path) {
			continue
		}
		if there := filepath.Join(started, *path); durable.Exists(there) {
			*path = there
		}
	}
}

// Hide leaves out of flat configurations where files lie, as far as all of them name one.
func (places Places) Hide(values ...map[string]string) {
	for key := range places {
		named := true
		for _, v := range values {
			named = named && v[key] != ""
		}
		if !named {
			continue
		}
		for _, v := range values {
			v[key] = "named"
		}
	}
}

// Take takes the paths of the same places of another configuration, and reports whether any has changed.
func (places Places) Take(other Places) (moved bool) {
	for key, path := range places {
		moved = moved || *path != *other[key]
		*path = *other[key]
	}
	return moved
}
