package annotation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// File is a file of captions in one of the two formats; the other is nil.
type File struct {
	COCO   *COCO
	MSRVTT *MSRVTT
}

// Read reads the captions of COCO or of MSR-VTT, whichever the file holds: see
// ReadCOCO and ReadMSRVTT.
func Read(ctx context.Context, path string) (*File, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return parseFile(path, r)
}

// parseFile is Read for a stream of plain JSON; name stands in messages.
func parseFile(name string, r io.Reader) (*File, error) {
	coco, msrvtt := cocoFile{name: name}, msrvttFile{name: name}
	formats := []fileFormat{coco.format(), msrvtt.format()}
	matched, err := readFile(captionFile, name, r, formats...)
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
