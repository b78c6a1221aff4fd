package manifest

import (
	"os"
	"path/filepath"
	"testing"
)

// Labels that differ in spelling alone are one label: the one of the words, else the most frequent.
func TestRead_JoinsLabels(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "m.csv")
	read := func(content string, o Options) (*Manifest, string) {
		t.Helper()
		check(t, os.WriteFile(file, []byte(content), 0o666))
		m, err := Read(t.Context(), file, o)
		check(t, err)
		return m, m.text()
	}
	const lists = "path,labels,truth,counts\na,Dog;cat,dog,dog:2;Dog:1\nb,dog;DOG,Dog,-\nc,dog;ice-cream,-,cat:1\nd,Ice Cream,-,-\n"
	m, got := read(lists, Options{JoinLabels: true})
	if got != "cat,dog dog dog,ice-cream ice-cream" || len(m.Labels) != 3 || m.named(m.Rows[1].Truth) != "dog" ||
		m.Rows[2].Truth == nil || m.Rows[0].Counts[0].Count != 3 || len(m.Rows[0].Counts) != 1 || m.Joined["DOG"] != "dog" {
		t.Errorf("%q of %q, %+v", got, m.Labels, m.Rows)
	}
	if _, got := read(lists, Options{JoinLabels: true, Words: []string{"DOG", "cat", "ICE CREAM"}}); got !=
		"DOG,cat DOG DOG,ICE CREAM ICE CREAM" {
		t.Errorf("with words: %q", got)
	}
	if m, got := read(lists, Options{}); got != "Dog,cat DOG,dog dog,ice-cream Ice Cream" || m.Joined != nil {
		t.Errorf("not joined: %q", got)
	}
	if m, got := read("path,tag\na,Dog\na,cat\nb,dog\nb,Cat\nc,dog\n", Options{JoinLabels: true}); got !=
		"cat,dog cat,dog dog" || m.Form != FormPairs || m.Labels[m.Lines[0].Label] != "dog" {
		t.Errorf("pairs: %q, %+v", got, m)
	}
	tree := folderWith(t, map[string]string{"Cat/1.jpg": "", "cat/2.jpg": "", "cat/3.jpg": "", "dog/4.jpg": ""})
	m, err := Read(t.Context(), tree, Options{JoinLabels: true})
	if err != nil || len(m.Labels) != 2 || m.named(m.Rows[0].Labels) != "cat" {
		t.Errorf("folders: %+v, %v", m, err)
	}
}
