package shard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// indexScanner reads an index line by line, in memory of one line.
type indexScanner struct {
	r      *bufio.Reader
	name   string // for messages
	header Header
	number int    // lines read
	start  int64  // byte at which the line begins
	next   int64  // byte after it
	text   []byte // the line, valid until the next one is read
}

// newIndexScanner reads the first line.
func newIndexScanner(r io.Reader, name string) (*indexScanner, error) {
	s := &indexScanner{r: bufio.NewReaderSize(r, 1<<16), name: name}
	err := s.line()
	if err == io.EOF {
		err = s.wrap(faultf("the file is empty"))
	}
	if err != nil {
		return nil, err
	}
	s.header, err = parseHeader(s.text)
	return s, s.wrap(err)
}

// line reads the next line, or returns io.EOF.
func (s *indexScanner) line() error {
	s.number++
	s.start, s.text = s.next, s.text[:0]
	for {
		part, err := s.r.ReadSlice('\n')
		s.text = append(s.text, part...)
		s.next += int64(len(part))
		switch {
		case len(s.text) > maxLine:
			return s.wrap(faultf("the line has more than %d bytes", maxLine))
		case err == nil:
			s.text = s.text[:len(s.text)-1]
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(s.text) == 0:
			return io.EOF
		case err == io.EOF:
			return s.wrap(fmt.Errorf("%w after %d bytes", errTorn, len(s.text)))
		default:
			return s.wrap(err)
		}
	}
}

// errTorn is an incomplete last line, left by a process that was killed while writing.
var errTorn = faultf("the line is cut short (nmn frames goes on from the lines before it)")

// record reads the next record, or returns io.EOF.
func (s *indexScanner) record() (Record, error) {
	if err := s.line(); err != nil {
		return Record{}, err
	}
	r, err := parseRecord(s.text)
	return r, s.wrap(err)
}

func (s *indexScanner) wrap(err error) error {
	if err == nil {
		return nil
	}
	return lineError(s.name, s.number, s.start, err)
}

func lineError(name string, number int, offset int64, err error) error {
	help := ""
	if errors.Is(err, ErrFormat) && !errors.Is(err, errTorn) {
		help = "; " + cure
	}
	return fmt.Errorf("shard: %s, line %d (byte %d): %w%s", name, number, offset, err, help)
}

// records reads the rest of the index.
func (s *indexScanner) records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			r, err := s.record()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// openIndex opens the index of a folder.
func openIndex(dir string) (*os.File, error) {
	file, err := os.Open(filepath.Join(dir, IndexName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("shard: %q holds no %s: name a folder that nmn frames has written; %s: %w",
			dir, IndexName, cure, err)
	}
	if err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	return file, nil
}

// scanIndex opens the index of a folder and reads its first line. The caller closes the file.
func scanIndex(dir string) (s *indexScanner, file *os.File, err error) {
	if file, err = openIndex(dir); err != nil {
		return nil, nil, err
	}
	if s, err = newIndexScanner(file, file.Name()); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return s, file, nil
}

// Records reads the index of a folder from the start, in order and in memory of one record. It ends
// with the first error.
func Records(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s, file, err := scanIndex(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer file.Close()
		s.records()(yield)
	}
}
