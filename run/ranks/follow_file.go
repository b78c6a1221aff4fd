package ranks

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// packFile writes a file, or the stub of a checkpoint. A checkpoint that is damaged is left out, as if it were not
// there: rank 0, whose own it is, says what is wrong with it.
func packFile(archive *tar.Writer, header *tar.Header, path string, short bool,
	stub func(io.Writer, string) error) error {
	header.Typeflag, header.Mode = tar.TypeReg, 0o666
	if short {
		var b bytes.Buffer
		if err := stub(&b, path); err != nil {
			return nil //nolint:nilerr // see above
		}
		header.Size = int64(b.Len())
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(b.Bytes())
		return err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	header.Size = info.Size()
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.CopyN(archive, file, info.Size()); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	return nil
}

func unpackFile(path string, content io.Reader) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return cmp.Or(err, file.Close())
}
