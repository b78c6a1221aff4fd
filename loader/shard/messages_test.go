package shard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// A whole index, read line by line and from the start, reports the error of its first line exactly once.
func TestRecords_OfAnIndexWithoutItsHead(t *testing.T) {
	for name, c := range map[string]struct{ content, says string }{
		"empty":        {"", "line 1 (byte 0): the file is empty"},
		"no head":      {"{\"clip\":\"a\"}\n", "line 1 (byte 0): the first line has the format \"\""},
		"only a start": {"{\"format\":", "line 1 (byte 0): the line is cut short"},
	} {
		dir := t.TempDir()
		expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), []byte(c.content), 0o644))
		var got []error
		for _, err := range Records(dir) {
			got = append(got, err)
		}
		_, opening := Open(dir)
		for _, err := range append(got, opening) {
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) || len(got) != 1 {
				t.Errorf("%s: errors %v, want one that says %q", name, got, c.says)
			}
		}
	}
	n := 0
	for _, err := range Records(filepath.Join(t.TempDir(), "none")) {
		if n++; !errors.Is(err, os.ErrNotExist) || n > 1 {
			t.Errorf("a folder that is not there: error %d is %v", n, err)
		}
	}
	if n == 0 {
		t.Error("a folder that is not there gives no error")
	}
}

// Messages name the line, so that the user can fix an index by hand.
func TestRecord_NamesTheLine(t *testing.T) {
	whole := write(t)
	index, table := read(t, whole, IndexName), read(t, whole, offsetsName)
	const clip = 2
	start := func(i int) int { return int(binary.LittleEndian.Uint64(table[offsetsHead+8*i:])) }
	for name, c := range map[string]struct {
		change func(index, table []byte)
		cut    int // bytes that stay of the index once it is open; 0 for all
		says   string
	}{
		"not JSON":      {change: func(index, _ []byte) { index[start(clip)] = '!' }, says: "not a line of an index"},
		"two lines":     {change: func(index, _ []byte) { index[start(clip)+1] = '\n' }, says: "but it is not"},
		"no end before": {change: func(index, _ []byte) { index[start(clip)-1] = ' ' }, says: "but it is not"},
		"cut meanwhile": {change: func(_, _ []byte) {}, cut: start(clip) + 1, says: "cannot read"},
		"ends elsewhere": {change: func(_, table []byte) { table[offsetsHead+8*(clip+1)]-- },
			says: fmt.Sprintf("is at bytes %d to %d, but it is not", start(clip), start(clip+1)-1)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			expect.OK(t, os.CopyFS(dir, os.DirFS(whole)))
			changed, moved := bytes.Clone(index), bytes.Clone(table)
			c.change(changed, moved)
			expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), changed, 0o644))
			expect.OK(t, os.WriteFile(filepath.Join(dir, offsetsName), moved, 0o644))
			r := open(t, dir)
			if c.cut > 0 {
				cutTo(IndexName, int64(c.cut))(t, dir)
			}
			_, err := r.Record(clip)
			where := fmt.Sprintf("%s, line %d (byte %d): ", IndexName, clip+2, start(clip))
			if err == nil || !strings.Contains(err.Error(), where) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q and %q", err, where, c.says)
			}
		})
	}
	for _, i := range []int{-1, len(names), len(names) + 1} {
		if _, err := open(t, whole).Record(i); err == nil || !strings.Contains(err.Error(), fmt.Sprint("no clip ", i)) {
			t.Errorf("clip %d: %v", i, err)
		}
	}
}

// The index must match the existing shards, except for the last ones, which may be newer.
func TestUnlisted_HoldsShardsToTheIndex(t *testing.T) {
	shards := func(numbers ...int) (s []string) {
		for _, n := range numbers {
			s = append(s, shardName(n))
		}
		return s
	}
	for _, c := range []struct {
		listed []int // by the index; the lines of the last are made again
		found  []int
		want   []int // nil for an error
	}{
		{nil, []int{0, 1}, []int{0, 1}},
		{[]int{0}, []int{0}, []int{0}},
		{[]int{0, 1, 2}, []int{0, 1, 2}, []int{2}},
		{[]int{0, 1, 2}, []int{0, 1, 2, 3, 9}, []int{2, 3, 9}},
		{[]int{0, 1, 2}, []int{0, 1}, nil},
		{[]int{0, 1, 2}, []int{0}, nil},
		{[]int{0, 1, 2}, nil, nil},
		{[]int{0, 1, 2}, []int{0, 1, 3}, nil},
		{[]int{0, 1, 5}, []int{0, 2, 5}, nil},
		{[]int{1}, []int{0, 1}, nil},
	} {
		s := indexState{name: "index", names: shards(c.listed...)}
		if last := len(s.names) - 1; last >= 0 {
			s.names, s.last = s.names[:last], s.names[last]
		}
		got, err := s.unlisted(shards(c.found...))
		if (err == nil) != (c.want != nil) || err != nil && !errors.Is(err, ErrFormat) ||
			!slices.Equal(got, shards(c.want...)) {
			t.Errorf("listed %d, found %d: %q, %v; want %d", c.listed, c.found, got, err, c.want)
		}
	}
}

// Offsets of an index that cannot be read are not kept, and neither is a part of them.
func TestWriteOffsets_OfABrokenIndexLeavesNothing(t *testing.T) {
	dir := write(t)
	expect.OK(t, os.Remove(filepath.Join(dir, offsetsName)))
	cutTail(t, dir, IndexName, 5)
	before, err := os.ReadDir(dir)
	expect.OK(t, err)
	if err := writeOffsets(dir); !errors.Is(err, errTorn) {
		t.Errorf("error %v", err)
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Errorf("there are %v, %v", after, err)
	}
}
