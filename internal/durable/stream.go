package durable

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

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
