//go:build linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
	expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
}

func treeOf(t *testing.T, files map[string]string) tree {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		write(t, folder, name, content)
	}
	all, err := readTree(folder)
	expect.OK(t, err)
	return all
}

func TestDifferences_NamesEachFile(t *testing.T) {
	want := treeOf(t, map[string]string{"run/q.csv": "a,.5\n", "run/last.safetensors": "x", "run/words.txt": "a\n"})
	got := treeOf(t, map[string]string{"run/q.csv": "a,.4\n", "run/words.txt": "a\n", "run/.q.csv12345": "a"})
	lines := differences(got, want)
	if !slices.Equal(lines, []string{"run/last.safetensors is missing", "run/q.csv differs",
		"run/.q.csv12345 is left over"}) {
		t.Errorf("%q", lines)
	}
}

func TestTree_TimesDoNotCount(t *testing.T) {
	first := map[string]string{
		"result.json": `{"steps": 4, "seconds": 1.5, "stage": {"step_ms": 3, "free_bytes": 7}}`,
		"log.jsonl": `{"time":"2026-01-01T00:00:00Z","msg":"step","step":1,"loss":2.5,"step_ms":10}` + "\n" +
			`{"time":"2026-01-01T00:00:01Z","msg":"checkpoint","step":1}` + "\n" +
			`{"time":"2026-01-01T00:00:02Z","msg":"epoch","step":1,"epoch":1,"loss":2.5,"epoch_ms":10}` + "\n",
		"recipe.md":                         "| duration | 1m2s |\n",
		"data.tsv":                          "file\tmodified\nx\t2026\n",
		"events/events.out.tfevents.12.a.0": "x",
	}
	second := map[string]string{
		"result.json": `{"steps": 4, "seconds": 2.5, "stage": {"step_ms": 4, "free_bytes": 8}}`,
		"log.jsonl": `{"time":"2027-01-01T00:00:00Z","msg":"step","step":1,"loss":2.5,"step_ms":11}` + "\n" +
			`{"msg":"epoch","step":1,"epoch":1,"loss":2,"epoch_ms":1}` + "\n" +
			`{"msg":"configuration"}` + "\n" +
			`{"msg":"epoch","step":1,"epoch":1,"loss":2.5,"epoch_ms":2}` + "\n",
		"recipe.md":                         "| duration | 59s |\n",
		"data.tsv":                          "file\tmodified\nx\t2027\n",
		"events/events.out.tfevents.13.b.0": "y",
	}
	if lines := differences(treeOf(t, second), treeOf(t, first)); len(lines) > 0 {
		t.Errorf("%q", lines)
	}
	for name, content := range map[string]string{
		"result.json": `{"steps": 5, "seconds": 1.5, "stage": {"step_ms": 3}}`,
		"log.jsonl": `{"msg":"step","step":1,"loss":2.5}` + "\n" +
			`{"msg":"epoch","step":1,"epoch":1,"loss":2.6}` + "\n",
		"recipe.md": "| duration | 1m2s, 3 steps |\n",
	} {
		before := first[name]
		changed := treeOf(t, map[string]string{name: content})
		if lines := differences(changed, treeOf(t, map[string]string{name: before})); len(lines) != 1 {
			t.Errorf("%s: another result is not noticed: %q", name, lines)
		}
	}
}

func TestBroken_FindsWhatIsCut(t *testing.T) {
	tensors := "\x3b\x00\x00\x00\x00\x00\x00\x00" + `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}` + "      "
	folder := t.TempDir()
	for name, content := range map[string]string{
		"good.json": "{}", "bad.json": `{"a": `, "good.csv": "a,b\n1,2\n", "bad.csv": "a,b\n1\n", "cut.csv": "a,b\n1,",
		"good.safetensors": tensors + "data", "bad.safetensors": tensors + "dat",
		"log.jsonl": "{}\n{\"a\":", "bad.svg": "<svg>", "good.html": "<html></html>\n", "empty.txt": "",
		".bad.json123": "{",
	} {
		write(t, folder, name, content)
	}
	lines := broken(folder, func(path string) bool { return path == "log.jsonl" })
	var names []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	if want := []string{"bad.csv", "bad.json", "bad.safetensors", "bad.svg", "cut.csv", "empty.txt"}; !slices.Equal(names,
		want) {
		t.Errorf("broken are %q, want %q", lines, want)
	}
}
