package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
)

// sumsKey is the metadata key of the checksums: CRC-32C as eight hexadecimal digits each, separated by
// spaces. The first is the header's. Its eight digits count as zeros. The others belong to the tensors in the
// order of their data. They find accidents, not forgeries.
const sumsKey = "nmn.crc32c"

const (
	sumDigits = 8
	noSum     = "00000000"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteSummed is Write with checksums in the metadata, which reading compares. w must be at the start of
// its file, and is left at the end of it.
func WriteSummed(w io.WriteSeeker, meta map[string]string, tensors []Tensor) error {
	ordered, err := resolve(tensors)
	if err != nil {
		return err
	}
	sums := make([]uint32, len(ordered))
	header, err := summedHeader(meta, ordered, sums)
	if err != nil {
		return err
	}
	// The sums are known when the data is written: their room is reserved now and filled at the end.
	if err := writeAll(w, header, ordered, sums); err != nil {
		return err
	}
	if header, err = summedHeader(meta, ordered, sums); err != nil {
		return err
	}
	return rewriteHeader(w, header)
}

// summedHeader is the header with checksums, whose length does not depend on them.
func summedHeader(meta map[string]string, tensors []Tensor, sums []uint32) ([]byte, error) {
	list := []string{noSum}
	for _, sum := range sums {
		list = append(list, hexadecimal(sum))
	}
	with := map[string]string{sumsKey: strings.Join(list, " ")}
	for key, value := range meta {
		if key != sumsKey {
			with[key] = value
		}
	}
	header, err := formatHeader(with, tensors)
	if err != nil {
		return nil, err
	}
	at, found := sumPlace(header)
	if !found {
		return nil, errors.New("safetensors: no room for a checksum in the header")
	}
	copy(header[at:], hexadecimal(crc32.Checksum(header, castagnoli)))
	return header, nil
}

// rewriteHeader replaces the header by one of equal length, and returns to the end.
func rewriteHeader(w io.WriteSeeker, header []byte) error {
	if _, err := w.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("safetensors: cannot go back to the header: %w", err)
	}
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("safetensors: cannot write the header: %w", err)
	}
	_, err := w.Seek(0, io.SeekEnd)
	return err
}

func hexadecimal(sum uint32) string { return fmt.Sprintf("%0*x", sumDigits, sum) }

// sumPlace finds the header's own checksum: quotes within names and texts are escaped, so that no other
// place looks like a key.
func sumPlace(header []byte) (at int, found bool) {
	key := []byte(`"` + sumsKey + `":"`)
	at = bytes.Index(header, key)
	if at < 0 || len(header) < at+len(key)+sumDigits {
		return 0, false
	}
	return at + len(key), true
}

// readSums takes the checksums out of the metadata, checks the header's and assigns the others to the
// tensors. header begins with its length. A file without checksums is accepted.
func (f *File) readSums(header []byte) error {
	text, summed := f.Metadata[sumsKey]
	if !summed {
		return nil
	}
	delete(f.Metadata, sumsKey)
	fields := strings.Split(text, " ")
	at, found := sumPlace(header)
	if !found || len(fields) != 1+len(f.entries) {
		return rewritten("%d checksums for a header and %d tensors", len(fields), len(f.entries))
	}
	sums := make([]uint32, len(fields))
	for i, field := range fields {
		sum, err := strconv.ParseUint(field, 16, 32)
		if err != nil || field != hexadecimal(uint32(sum)) {
			return rewritten("checksum %d is %.20q", i+1, field)
		}
		sums[i] = uint32(sum)
	}
	blank := bytes.Clone(header)
	copy(blank[at:], noSum)
	if sum := crc32.Checksum(blank, castagnoli); sum != sums[0] {
		return rewritten("the header has the checksum %08x, not %08x", sum, sums[0])
	}
	f.sums = sums[1:]
	return nil
}

// rewritten is about checksums that are not of this header.
func rewritten(format string, arguments ...any) error {
	return fmt.Errorf("%s: it is damaged, or another program has changed it and kept the metadata (which must then "+
		"leave out %s)",
		fmt.Sprintf(format, arguments...), sumsKey)
}

// summer compares the checksum of a tensor that is read from its first byte to its last.
type summer struct {
	file  *File
	index int
	sum   uint32
	left  int64
}

// summer starts a tensor.
func (f *File) summer(e entry) *summer {
	return &summer{file: f, index: f.index[e.name], left: e.end - e.begin}
}

// add takes the next bytes. The bytes that end the tensor must give its checksum.
func (s *summer) add(b []byte) error {
	if s.file.sums == nil {
		return nil
	}
	s.sum, s.left = crc32.Update(s.sum, castagnoli, b), s.left-int64(len(b))
	if want := s.file.sums[s.index]; s.left == 0 && s.sum != want {
		return fmt.Errorf("%w: %w", rewritten("its data has the checksum %08x, not %08x", s.sum, want), ErrCorrupt)
	}
	return nil
}

// countingWriter counts and sums the bytes written through it.
type countingWriter struct {
	w     io.Writer
	count int64
	sum   uint32
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.count += int64(n)
	c.sum = crc32.Update(c.sum, castagnoli, p[:n])
	return n, err
}
