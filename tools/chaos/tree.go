//go:build linux && (amd64 || arm64)

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// previousName is the checkpoint before the last.
const previousName = "previous.safetensors"

// tree holds a digest of each file below a folder, by its path. Times do not count.
type tree map[string]string

func readTree(folder string) (tree, error) {
	t := tree{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		below, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if entry.Name() == previousName {
			return nil // its step depends on the point of interruption
		}
		if strings.HasPrefix(entry.Name(), "events.out.tfevents.") {
			// Their names hold a time and a process, and a run that was resumed has several.
			t[filepath.Join(filepath.Dir(below), "events")] = ""
			return nil
		}
		if featurePart.MatchString(below) {
			// The distribution over files depends on the place of pictures and on the point of interruption.
			t[filepath.Join(filepath.Dir(below), "parts")] = ""
			return nil
		}
		sum := sha256.Sum256(timeless(entry.Name(), content))
		t[below] = hex.EncodeToString(sum[:8])
		return nil
	})
	return t, err
}

// differences lists how a tree differs from the wanted one, a line for each file.
func differences(got, want tree) (lines []string) {
	for _, path := range slices.Sorted(maps.Keys(want)) {
		switch digest, there := got[path]; {
		case !there:
			lines = append(lines, path+" is missing")
		case digest != want[path]:
			lines = append(lines, path+" differs")
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[path]; !there {
			lines = append(lines, path+" is left over")
		}
	}
	return lines
}

// featurePart is a file with features of some pictures, in which a run stores a backbone's features.
var featurePart = regexp.MustCompile(`(^|/)features/[0-9a-f]{32}/[0-9a-f]{32}\.safetensors$`)

// startFolder is the folder in a configuration from which a run was started, which differs for each trial.
var startFolder = regexp.MustCompile(`(?m)^ +folder: .*\n`)

// duration is how pages and tables show one.
var duration = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(s|ms|µs)\b`)

// timeless is the content of a file without the parts that depend on the time of day, on speed, or on the
// point of interruption.
func timeless(name string, content []byte) []byte {
	switch filepath.Ext(name) {
	case ".safetensors":
		if strings.HasPrefix(name, "best") {
			return tensors(content)
		}
	case ".jsonl":
		if name == "log.jsonl" {
			return steps(content)
		}
	case ".json":
		var v any
		if json.Unmarshal(content, &v) == nil {
			if out, err := json.Marshal(withoutTimes(v)); err == nil {
				return out
			}
		}
	case ".yaml":
		return startFolder.ReplaceAll(content, nil)
	case ".tsv":
		return withoutColumns(content)
	case ".md", ".html", ".svg":
		return duration.ReplaceAll(content, []byte("TIME"))
	}
	return content
}

// tensors is the content of a checkpoint without its header, but with the names in it. A best checkpoint that
// was saved because of a signal, after an evaluation at the end of an epoch, has another position than one
// saved after the epoch. The learned weights are equal.
func tensors(content []byte) []byte {
	if wholeTensors(content) != nil {
		return content
	}
	header := 8 + binary.LittleEndian.Uint64(content)
	var places map[string]json.RawMessage
	if err := json.Unmarshal(content[8:header], &places); err != nil {
		return content
	}
	delete(places, "__metadata__")
	names, err := json.Marshal(places)
	if err != nil {
		return content
	}
	return append(names, content[header:]...)
}

// timed reports whether a value of that name depends on time, speed or free memory.
func timed(name string) bool {
	return name == "time" || name == "seconds" || strings.HasSuffix(name, "_s") || strings.HasSuffix(name, "_ms") ||
		slices.Contains([]string{"device_bytes", "free_bytes", "modified", "slowest_rank"}, name)
}

func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if timed(name) {
				delete(v, name)
			} else {
				v[name] = withoutTimes(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return v
}

// steps are the lines of a log about steps, epochs and evaluations. The other lines report saving and
// resuming. A run that resumes after its last evaluation or at the end of an epoch may log it again: the
// later line replaces the first.
func steps(content []byte) []byte {
	type event struct {
		message, step, epoch any
	}
	var kept [][]byte
	at := map[event]int{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			kept = append(kept, fmt.Appendf(nil, "not a line: %s\n", lines.Bytes()))
			continue
		}
		switch line["msg"] {
		case "step", "epoch", "evaluation", "validation":
		default:
			continue
		}
		out, _ := json.Marshal(withoutTimes(line))
		e := event{line["msg"], line["step"], line["epoch"]}
		i, again := at[e]
		if !again {
			i = len(kept)
			at[e], kept = i, append(kept, nil)
		}
		kept[i] = append(out, '\n')
	}
	return bytes.Join(kept, nil)
}

// withoutColumns is a table, whose columns are parted by tabs, without its times.
func withoutColumns(content []byte) []byte {
	table := csv.NewReader(bytes.NewReader(content))
	table.Comma = '\t'
	rows, err := table.ReadAll()
	if err != nil || len(rows) == 0 {
		return content
	}
	var b bytes.Buffer
	for _, row := range rows {
		for i, field := range row {
			if !timed(rows[0][i]) {
				fmt.Fprintf(&b, "%s,", field)
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
