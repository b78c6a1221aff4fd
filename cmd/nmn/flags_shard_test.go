package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
)

// The outputs of shards, joined in the order of their numbers, equal the output of one process.
func TestShards_JoinedAreTheWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := filepath.Join(dir, "run")
	must(t, tiny("train", "--arm", "stage1", "--run-dir", model, "-q")...)
	must(t, "scenes", filepath.Join(dir, "data"), "--number", "11")
	pictures := filepath.Join(dir, "data", "images")
	rows := func(name string) []byte {
		t.Helper()
		data := readBytes(t, dir, name)
		_, begin, err := npy.ReadHeader(bytes.NewReader(data))
		expect.OK(t, err)
		return data[begin:]
	}
	predict := func(more ...string) []string {
		return strings.SplitAfter(must(t, append([]string{"predict", model, pictures, "--format", "csv", "-q"}, more...)...),
			"\n")
	}
	extract := func(name string, more ...string) []string {
		must(t, append([]string{"extract", model, pictures, "--output", filepath.Join(dir, name+".npy"), "--output-ids",
			filepath.Join(dir, name+".txt"), "-q"}, more...)...)
		return strings.Fields(read(t, filepath.Join(dir, name+".txt")))
	}
	lines, ids := predict(), extract("whole")
	var joined, joinedIDs []string
	var joinedRows []byte
	for i := range 3 {
		shard := []string{"--shard", strconv.Itoa(i+1) + "/3"}
		part := predict(shard...)
		if i > 0 {
			part = part[1:] // without the header
		}
		joined = append(joined, strings.Join(part, ""))
		joinedIDs = append(joinedIDs, extract("part", shard...)...)
		joinedRows = append(joinedRows, rows("part.npy")...)
	}
	if got, want := strings.Join(joined, ""), strings.Join(lines, ""); got != want {
		t.Errorf("predictions of shards are\n%s\nof one process\n%s", got, want)
	}
	if !slices.Equal(joinedIDs, ids) || !slices.Equal(joinedRows, rows("whole.npy")) || len(ids) != 11 {
		t.Errorf("rows of shards are of %v, of one process %v", joinedIDs, ids)
	}
	for _, c := range []struct{ args, want string }{
		{"--shard 4/3", "want i/n"},
		{"--shard 1/12", "has none of 11 pictures"},
		{"--shard 1/3", "--threshold"}, // which one part cannot choose for all
	} {
		refused := call(t, append([]string{"predict", model, pictures}, strings.Fields(c.args)...)...)
		wantCode(t, refused, exitUsage, c.want)
	}
	said := call(t, "predict", model, pictures, "--shard", "1/3", "--format", "csv")
	wantParts(t, said.err, "join the lines")
}
