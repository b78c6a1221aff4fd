package annotation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"nmn/loader"
)

// File is a file of captions in one of three formats; the others are nil.
type File struct {
	COCO   *COCO
	MSRVTT *MSRVTT
	Table  *Bags
}

// Read reads captions. A file of JSON is one of COCO or of MSR-VTT, or an array of objects: see ReadCOCO, ReadMSRVTT
// and ParseBags. Tables are CSV if the
// name of the file ends in .csv, .tsv, .txt or .token, and JSON lines if it ends in .jsonl or .ndjson, all also
// followed by .gz: see ParseBags. Errors about the content wrap loader.ErrAnnotations.
func Read(ctx context.Context, path string) (*File, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return parseFile(path, tableForm(path), &utf8Reader{r: r, line: 1})
}

// Bags are all captions of the file.
func (f *File) Bags() *Bags {
	switch {
	case f.COCO != nil:
		return f.COCO.Bags()
	case f.MSRVTT != nil:
		return f.MSRVTT.Bags()
	}
	return f.Table
}

// parseFile is Read for a stream of plain text; name stands in messages, and form is empty for JSON.
func parseFile(name string, form Form, r io.Reader) (*File, error) {
	text := bufio.NewReader(r)
	if form != FormCSV && form != FormLines && beginsArray(text) {
		form = FormArray
	}
	if form == FormCSV || form == FormLines || form == FormArray {
		t := newTableReader(name, form)
		read := map[Form]func(io.Reader) error{FormCSV: t.readCSV, FormLines: t.readLines, FormArray: t.readArray}[form]
		if err := read(text); err != nil {
			return nil, loader.Unusable(err)
		}
		return &File{Table: t.bags}, nil
	}
	coco, msrvtt := cocoFile{name: name}, msrvttFile{name: name}
	formats := []fileFormat{coco.format(), msrvtt.format()}
	matched, err := readFile(captionFile, name, text, formats...)
	if err != nil {
		return nil, err
	}
	if matched == &formats[0] {
		captions, err := coco.captionsOf()
		return &File{COCO: captions}, err
	}
	clips, err := msrvtt.clipsOf()
	return &File{MSRVTT: clips}, err
}

// beginsArray reports whether the first character of a text, after blanks, begins an array of JSON.
func beginsArray(text *bufio.Reader) bool {
	start, _ := text.Peek(1 << 10) // an error comes back when it is read
	start = bytes.TrimLeft(start, " \t\r\n")
	return len(start) > 0 && start[0] == '['
}

// IsMSRVTT reports whether a file of captions, as Read takes them, has the form of MSR-VTT: an object with
// the key "videos" or "sentences". It returns false for files that are not JSON.
func IsMSRVTT(ctx context.Context, path string) (bool, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return false, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return HoldsMSRVTT(r), nil
}

// HoldsMSRVTT is IsMSRVTT for a stream of plain JSON. It reads no more than it needs.
func HoldsMSRVTT(r io.Reader) bool {
	d := json.NewDecoder(r)
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		switch key {
		case "videos", "sentences":
			return true
		case "images", "annotations":
			return false
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}
