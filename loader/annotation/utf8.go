package annotation

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// utf8Reader fails at the first byte that is not UTF-8, and names its line.
type utf8Reader struct {
	valid io.Reader
	line  int // of the next byte, from 1
}

func newUTF8Reader(r io.Reader) *utf8Reader {
	return &utf8Reader{transform.NewReader(r, encoding.UTF8Validator), 1}
}

func (u *utf8Reader) Read(p []byte) (int, error) {
	n, err := u.valid.Read(p)
	u.line += bytes.Count(p[:n], []byte("\n"))
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		err = fmt.Errorf("line %d is not UTF-8: save the file in UTF-8", u.line)
	}
	return n, err
}
