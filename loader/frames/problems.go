package frames

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
)

// ProblemsName is the file, next to the frames, that has a line for each clip that was left out, and for each
// that ffmpeg reported a problem with.
const ProblemsName = "problems.jsonl"

// Problem is a line of it.
type Problem struct {
	Clip  string `json:"clip"`
	Kept  bool   `json:"kept"` // its frames are there nevertheless
	Cause string `json:"cause"`
}

// printable is a name as JSON can hold it.
func printable(name string) string { return strings.ToValidUTF8(name, "?") }

// problems appends to the file.
type problems struct {
	name string
	file *os.File
}

// openProblems continues the existing file, without its lines about clips that are tried again.
func openProblems(dir string, unfinished []Source) (*problems, error) {
	p := &problems{name: filepath.Join(dir, ProblemsName)}
	old, err := readProblems(p.name)
	if err != nil {
		return nil, p.failed(err)
	}
	tried := map[string]bool{}
	for _, s := range unfinished {
		tried[printable(s.Name)] = true
	}
	var text bytes.Buffer
	for _, q := range old {
		if !tried[q.Clip] {
			line, err := json.Marshal(q)
			if err != nil {
				return nil, p.failed(err)
			}
			text.Write(append(line, '\n'))
		}
	}
	if err := durable.WriteFile(p.name, text.Bytes(), 0o644); err != nil {
		return nil, p.failed(err)
	}
	p.file, err = os.OpenFile(p.name, os.O_WRONLY|os.O_APPEND, 0)
	return p, p.failed(err)
}

// readProblems reads the file of an earlier run; lines that a kill has cut are skipped.
func readProblems(name string) ([]Problem, error) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []Problem
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q Problem
		if json.Unmarshal(lines.Bytes(), &q) == nil {
			all = append(all, q)
		}
	}
	return all, lines.Err()
}

func (p *problems) add(q Problem) error {
	line, err := json.Marshal(q)
	if err == nil {
		_, err = p.file.Write(append(line, '\n'))
	}
	return p.failed(err)
}

// Close closes the file.
func (p *problems) Close() error { return p.failed(p.file.Close()) }

func (p *problems) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("frames: cannot write the list of problems %q: %w", p.name, err)
}
