package origin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
)

// put writes a file of a folder with a time of modification in seconds.
func put(t *testing.T, dir, name, content string, modified int64) Place {
	t.Helper()
	path := filepath.Join(dir, name)
	expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
	expect.OK(t, os.Chtimes(path, time.Time{}, time.Unix(modified, 0)))
	return Place{Name: "images/" + name, Path: path}
}

func find(t *testing.T, content bool, places ...Place) List {
	t.Helper()
	l, err := Find(t.Context(), places, content)
	expect.OK(t, err)
	return l
}

func TestSince_NamesTheFileThatDiffers(t *testing.T) {
	for name, test := range map[string]struct {
		content bool                                                 // content of all files is recorded at the start
		change  func(t *testing.T, dir string, then []Place) []Place // makes the current files
		says    string                                               // text of the difference; empty for none
		unknown bool
	}{
		"nothing": {change: func(_ *testing.T, _ string, then []Place) []Place { return then }},
		"another folder": {change: func(t *testing.T, _ string, _ []Place) []Place {
			moved := t.TempDir()
			return []Place{put(t, moved, "a.png", "aaaa", 100), put(t, moved, "b.png", "bbbb", 200)}
		}},
		"another size": {says: "b.png has changed since this run began (5 bytes, was 4)",
			change: func(t *testing.T, dir string, then []Place) []Place {
				put(t, dir, "b.png", "bbbbb", 200)
				return then
			}},
		"touched": {says: "b.png was modified", unknown: true,
			change: func(t *testing.T, dir string, then []Place) []Place {
				put(t, dir, "b.png", "bbbb", 300)
				return then
			}},
		"touched, content known": {content: true,
			change: func(t *testing.T, dir string, then []Place) []Place {
				put(t, dir, "b.png", "bbbb", 300)
				return then
			}},
		"painted over, content known": {content: true, says: "b.png has changed since this run began (sha256 ",
			change: func(t *testing.T, dir string, then []Place) []Place {
				put(t, dir, "b.png", "cccc", 300)
				return then
			}},
		"gone": {says: "b.png was there when this run began, and is not any more",
			change: func(_ *testing.T, _ string, then []Place) []Place { return then[:1] }},
		"new": {says: "c.png was not there when this run began",
			change: func(t *testing.T, dir string, then []Place) []Place {
				return append(then, put(t, dir, "c.png", "cccc", 100))
			}},
		"a setting that was not there": {change: func(t *testing.T, dir string, then []Place) []Place {
			p := put(t, dir, "w.pth", "weights", 100)
			p.Name, p.ByContent = "net.weights", true
			return append(then, p)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			places := []Place{put(t, dir, "a.png", "aaaa", 100), put(t, dir, "b.png", "bbbb", 200)}
			file := filepath.Join(dir, "data.tsv")
			expect.OK(t, find(t, test.content, places...).Save(file))
			then, err := Load(file)
			if err != nil || len(then) != 2 {
				t.Fatalf("read back: %v (%v)", then, err)
			}
			now := find(t, false, test.change(t, dir, places)...)
			kept, d, err := now.Since(t.Context(), then)
			expect.OK(t, err)
			if test.says == "" {
				if d != nil || test.content && kept[1].Digest == "" {
					t.Errorf("difference %+v, keeping %+v; want none, and digests that were known", d, kept)
				}
				return
			}
			if d == nil || !strings.Contains(d.Text, test.says) || d.Unknown != test.unknown {
				t.Errorf("difference %+v, want %q", d, test.says)
			}
		})
	}
}

// The ends of a file recognise it after a copy, also if its whole content is read later.
func TestSince_ComparesEnds(t *testing.T) {
	const size = 3 * endBytes
	dir := t.TempDir()
	content := func(at int) string { // differs from content(-1) in one byte
		c := []byte(strings.Repeat("a", size))
		if at >= 0 {
			c[at] = 'b'
		}
		return string(c)
	}
	places := []Place{put(t, dir, "a.png", content(-1), 100), put(t, dir, "b.png", "short", 100)}
	then, err := find(t, false, places...).WithEnds(t.Context())
	expect.OK(t, err)
	file := filepath.Join(dir, "data.tsv")
	expect.OK(t, then.Save(file))
	if then, err = Load(file); err != nil || then.Unread() != 0 {
		t.Fatalf("read back: %v (%v)", then, err)
	}
	for at, says := range map[int]string{-1: "", 0: "a.png has changed", endBytes - 1: "a.png has changed", endBytes: "",
		size - endBytes - 1: "", size - endBytes: "a.png has changed", size - 1: "a.png has changed"} {
		put(t, dir, "a.png", content(at), 200)
		for _, whole := range []bool{false, true} {
			kept, d, err := find(t, whole, places...).Since(t.Context(), then)
			if expect.OK(t, err); says == "" && (d != nil || !ofEnds(kept[0].Digest)) ||
				says != "" && (d == nil || !strings.Contains(d.Text, says) || d.Unknown) {
				t.Errorf("byte %d, whole content %t: difference %+v, want %q", at, whole, d, says)
			}
		}
	}
	put(t, dir, "a.png", content(-1), 200)
	put(t, dir, "b.png", "shirt", 200)
	if _, d, err := find(t, false, places...).Since(t.Context(), then); err != nil || d == nil ||
		!strings.Contains(d.Text, "b.png has changed") {
		t.Errorf("a short file: %+v, %v", d, err)
	}
}

// The named file is one that certainly differs, and the others are counted.
func TestSince_CountsFurtherFiles(t *testing.T) {
	dir := t.TempDir()
	places := []Place{put(t, dir, "a.png", "a", 1), put(t, dir, "b.png", "b", 1), put(t, dir, "c.png", "c", 1)}
	then := find(t, false, places...)
	put(t, dir, "a.png", "a", 2)
	put(t, dir, "b.png", "bb", 1)
	put(t, dir, "c.png", "cc", 1)
	_, d, err := find(t, false, places...).Since(t.Context(), then)
	if err != nil || d == nil || d.Unknown || d.More != 2 || !strings.Contains(d.Text, "b.png has changed") {
		t.Errorf("difference %+v (%v), want b.png and two more", d, err)
	}
}

func TestLoad_RefusesWhatIsNoList(t *testing.T) {
	for _, text := range []string{"", "a\tb\n", "file\tbytes\tmodified\tsha256\nx\t-\t\t\n"} {
		file := filepath.Join(t.TempDir(), "data.tsv")
		expect.OK(t, os.WriteFile(file, []byte(text), 0o666))
		if l, err := Load(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q is read as %v (%v)", text, l, err)
		}
	}
	if l, err := Load(filepath.Join(t.TempDir(), "none")); l != nil || err != nil {
		t.Errorf("no file is %v (%v)", l, err)
	}
}
