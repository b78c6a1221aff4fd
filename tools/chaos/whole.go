//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"nmn/format/safetensors"
)

// aside is the name of a file that is being written and has not got its own yet.
var aside = regexp.MustCompile(`^\..+(\d+|\.link)$`)

// lockName is the file that names the process holding a run folder. It is removed with the lock, and its
// content is not trusted.
const lockName = "run.lock"

// broken lists the files below a folder that are not whole. appends reports which may end in the midst of a line.
func broken(folder string, appends func(path string) bool) (lines []string) {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != folder {
			return fs.SkipDir // a folder aside
		}
		if err != nil || !entry.Type().IsRegular() || aside.MatchString(entry.Name()) || entry.Name() == lockName {
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
		if appends(below) {
			content = content[:bytes.LastIndexByte(content, '\n')+1]
		}
		if err := whole(entry.Name(), content, appends(below)); err != nil {
			lines = append(lines, fmt.Sprintf("%s is not whole: %v", below, err))
		}
		return nil
	})
	if err != nil {
		lines = append(lines, err.Error())
	}
	return lines
}

// endings are the last bytes of files by the endings of their names.
var endings = map[string]string{".svg": "</svg>", ".html": "</html>", ".png": "IEND\xaeB`\x82", ".jpg": "\xff\xd9",
	".parquet": "PAR1"}

// whole returns an error if a file's content does not have the form that its name implies.
func whole(name string, content []byte, mayBeEmpty bool) error {
	if len(content) == 0 && mayBeEmpty {
		return nil
	}
	switch filepath.Ext(name) {
	case ".json":
		return json.Unmarshal(content, new(any))
	case ".jsonl":
		for line := range bytes.Lines(content) {
			if err := json.Unmarshal(line, new(any)); err != nil {
				return fmt.Errorf("%w in %.60q", err, line)
			}
		}
		return nil
	case ".csv":
		_, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		return errors.Join(err, endsIn(content, "\n"))
	case ".safetensors":
		return wholeTensors(content)
	}
	if end, known := endings[filepath.Ext(name)]; known {
		return endsIn(bytes.TrimSpace(content), end)
	}
	if strings.HasPrefix(name, "events.out.tfevents.") {
		return nil
	}
	if len(content) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func endsIn(content []byte, end string) error {
	if !bytes.HasSuffix(content, []byte(end)) {
		return fmt.Errorf("it does not end in %q", end)
	}
	return nil
}

// wholeTensors holds the size of a safetensors file to its header.
func wholeTensors(content []byte) error {
	_, err := safetensors.NewReader(bytes.NewReader(content), int64(len(content)))
	return err
}
