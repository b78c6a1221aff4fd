//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tamperWithData changes an input while no process runs, and resumes: the run must refuse, and name the
// input. Then the input is restored. A file with only another time of modification may be accepted.
func (t *trial) tamperWithData() error {
	if len(t.s.runs) > 0 && !exists(filepath.Join(t.work(), t.s.runs[0], "config.yaml")) {
		t.Missed = true // it had not begun to learn
		return nil
	}
	found, err := filepath.Glob(filepath.Join(t.work(), t.s.data[t.random.IntN(len(t.s.data))]))
	if err != nil {
		return err
	}
	path := found[t.random.IntN(len(found))]
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	when := time.Now().Add(24 * time.Hour)
	if t.f.Other {
		when = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if t.f.Kind == changed {
		when = time.Now()
		if err := os.WriteFile(path, change(path, before), 0o666); err != nil {
			return err
		}
	}
	if err := os.Chtimes(path, when, when); err != nil {
		return err
	}
	if err := t.run(t.s.command(), disturbance{}); err != nil {
		return err
	}
	name := filepath.Base(path)
	switch {
	case t.end.code == 0 && t.f.Kind == changed:
		t.lose("%s has changed, and no message reports it", name)
	case t.end.code != 0 && !strings.Contains(t.end.stderr, name):
		t.lose("%s is another one, and the message does not name it: %s", name, t.end.stderr)
	}
	if err := os.WriteFile(path, before, 0o666); err != nil {
		return err
	}
	return os.Chtimes(path, info.ModTime(), info.ModTime())
}

// change makes other content of the same form: other labels, words, features or pixels.
func change(path string, content []byte) []byte {
	b := bytes.Clone(content)
	switch filepath.Ext(path) {
	case ".csv":
		at := bytes.LastIndex(b, []byte(",0"))
		b[at+1] = '1'
	case ".json", ".jsonl":
		return bytes.Replace(b, []byte("and"), []byte("the"), 1)
	default:
		// The last bytes of a matrix belong to a feature. A picture's are the checksum or the end.
		for i := range 4 {
			b[len(b)-1-i] ^= 0x01
		}
	}
	return b
}

// damage spoils the last checkpoint in place, as a disk may, and resumes. If the run cannot resume, its
// message must give a way, which is then tried.
func (t *trial) damage() error {
	name := "last.safetensors"
	path := ""
	for _, run := range t.s.runs {
		if p := filepath.Join(t.work(), run, name); exists(p) && !exists(filepath.Join(filepath.Dir(p), "result.json")) {
			path = p
		}
	}
	if path == "" {
		t.Missed = true // there was none yet, or it was no longer needed
		return nil
	}
	previous := filepath.Join(filepath.Dir(path), previousName)
	last, err := os.Stat(path)
	if err != nil {
		return err
	}
	if before, err := os.Stat(previous); err == nil && os.SameFile(last, before) {
		t.Missed = true // killed between the two calls, while both names belong to one file
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := int(t.f.Share * float64(len(content)-1))
	if t.f.Other {
		content[at] ^= 1 << t.random.IntN(8)
	} else {
		content = content[:at]
	}
	if err := os.WriteFile(path, content, 0o666); err != nil { // the same inode
		return err
	}
	if err := t.run(t.s.command(), disturbance{}); err != nil {
		return err
	}
	if t.end.code == 0 {
		return nil // it recovered by itself: the results are compared in the end
	}
	switch {
	case !strings.Contains(t.end.stderr, name):
		t.lose("the message does not name %s: %s", name, t.end.stderr)
	case exists(previous) && strings.Contains(t.end.stderr, "mv "):
		return os.Rename(previous, path)
	case exists(previous):
		t.lose("the message names no way on: %s; broken are %q", t.end.stderr, broken(t.work(), t.s.appends))
	}
	// There was only one checkpoint, so the run cannot continue.
	for _, run := range t.s.runs {
		if err := os.RemoveAll(filepath.Join(t.work(), run)); err != nil {
			return err
		}
	}
	return nil
}
