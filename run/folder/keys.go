package folder

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nmn/internal/durable"
)

// ChangedKey finds the first key in which two flat configurations differ, apart from those with one of the free
// prefixes. The keys in never may not differ even so.
func ChangedKey(x, y map[string]string, free []string, never ...string) (key, was, is string) {
	all := maps.Clone(x)
	maps.Copy(all, y) // what is not set is left out of either
	for _, k := range slices.Sorted(maps.Keys(all)) {
		isFree := func(prefix string) bool { return strings.HasPrefix(k, prefix) && !slices.Contains(never, k) }
		if x[k] != y[k] && !slices.ContainsFunc(free, isFree) {
			return k, cmp.Or(x[k], "empty"), cmp.Or(y[k], "empty")
		}
	}
	return "", "", ""
}

// Flatten maps the path of each value of a configuration, such as data.noise, to the value.
func Flatten(c any) map[string]string {
	out := map[string]string{}
	var root yaml.Node
	if err := root.Encode(c); err != nil {
		return out // a configuration is plain values
	}
	var walk func(path string, n *yaml.Node)
	walk = func(path string, n *yaml.Node) {
		switch {
		case n.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(path+"."+n.Content[i].Value, n.Content[i+1])
			}
		case n.Kind == yaml.SequenceNode:
			for i, item := range n.Content {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		default:
			out[strings.TrimPrefix(path, ".")] = n.Value
		}
	}
	walk("", &root)
	return out
}

// HashText takes a text into a hash, with its length, so that texts in a row cannot be taken for others.
func HashText(h hash.Hash, s string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// Literal is a pattern that matches a name alone.
func Literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

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
