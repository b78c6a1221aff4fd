package durable

import (
	"bufio"
	"bytes"
	"encoding/csv"
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

// Replace writes a file by a function, which may seek in it. The file appears when it is complete. Errors
// name it.
func Replace(path string, perm fs.FileMode, write func(*File) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %q: %w", path, err)
		}
	}()
	file, err := Create(path, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := write(file); err != nil {
		return err
	}
	return file.Commit()
}

// Stream is Replace for a function that writes from the beginning to the end, in small pieces.
func Stream(path string, perm fs.FileMode, write func(io.Writer) error) error {
	return Replace(path, perm, func(file *File) error {
		buffered := bufio.NewWriterSize(file, 1<<16)
		if err := write(buffered); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// CSV is Stream for a function that writes the records of a table.
func CSV(path string, perm fs.FileMode, write func(*csv.Writer) error) error {
	return Stream(path, perm, func(out io.Writer) error {
		w := csv.NewWriter(out)
		if err := write(w); err != nil {
			return err
		}
		w.Flush()
		return w.Error()
	})
}
