package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Save writes a whole file with the usual permissions. Its errors name the path.
func Save(path string, content []byte) error {
	if err := WriteFile(path, content, 0o666); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// SaveFrom writes a whole file with the content that w writes. what names the content in errors, as "the
// vocabulary". Errors of w are returned unchanged, before anything is written.
func SaveFrom(path, what string, w io.WriterTo) error {
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return err
	}
	if err := WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write %s %q: %w", what, path, err)
	}
	return nil
}

// SaveJSON writes v as an indented JSON file.
func SaveJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return Save(path, append(data, '\n'))
}

// LoadJSON reads a file that SaveJSON has written. It returns nil if there is none. cure is advice about a
// file that cannot be read.
func LoadJSON[T any](path, cure string) (*T, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("%s: %w; %s", path, err, cure)
	}
	return &v, nil
}

// Exists reports whether there is anything at path that can be looked at.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
