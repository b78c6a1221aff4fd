//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
	case ".npy":
		return wholeArray(content)
	case ".svg":
		return endsIn(bytes.TrimSpace(content), "</svg>")
	case ".html":
		return endsIn(bytes.TrimSpace(content), "</html>")
	case ".png":
		return endsIn(content, "IEND\xaeB`\x82")
	case ".jpg":
		return endsIn(content, "\xff\xd9")
	case ".parquet":
		return endsIn(content, "PAR1")
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

var (
	arrayHeader = regexp.MustCompile(`'descr': (.+), 'fortran_order': .*'shape': \(([\d, ]*)\)`)
	elementType = regexp.MustCompile(`'[<|][biuf](\d)'`) // of an array, or of a field of a table
	dimension   = regexp.MustCompile(`\d+`)
)

// wholeArray compares the size of a NumPy file, an array of numbers or a table of them, with its header.
func wholeArray(content []byte) error {
	if len(content) < 10 {
		return io.ErrUnexpectedEOF
	}
	header := 10 + int(binary.LittleEndian.Uint16(content[8:]))
	m := arrayHeader.FindSubmatch(content[:min(header, len(content))])
	if m == nil {
		return fmt.Errorf("header %.200q", content)
	}
	width, elements := 0, 1
	for _, of := range elementType.FindAllSubmatch(m[1], -1) {
		width += int(of[1][0] - '0')
	}
	for _, of := range dimension.FindAll(m[2], -1) {
		n, err := strconv.Atoi(string(of))
		if err != nil {
			return err
		}
		elements *= n
	}
	if width == 0 {
		return fmt.Errorf("header %.200q", content)
	}
	if size := header + width*elements; size != len(content) {
		return fmt.Errorf("%d bytes, want %d", len(content), size)
	}
	return nil
}
