package features

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/input"
)

// openText opens a text file, plain or compressed with gzip, in UTF-8 or UTF-16, and skips a byte order mark.
func openText(ctx context.Context, name string) (*bufio.Reader, *input.File, error) {
	f, err := openRegular(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	text := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := text.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(text)
		if err != nil {
			_ = f.Close() // it was only read: the first error is the one to report
			return nil, nil, formatf("features: %q is a damaged gzip file (%v): copy or write it again", name, err)
		}
		text = bufio.NewReaderSize(inflated{z}, 1<<16)
	}
	text = input.UTF8(text)
	input.SkipMark(text)
	return text, f, nil
}

// inflated reports errors of a compressed text that ends early or fails its checksum.
type inflated struct{ z *gzip.Reader }

func (i inflated) Read(p []byte) (int, error) {
	n, err := i.z.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		err = formatf("the compressed file is cut short or damaged (%v): copy or write it again", err)
	}
	return n, err
}

// textLines reads the lines of a text that are neither blank nor comments.
type textLines struct {
	source  *bufio.Reader
	comment string // what comments begin with; empty for none
	line    int    // the number of the last line that was read
}

// readLine returns the next line without blanks around it, io.EOF after the last.
func (t *textLines) readLine() (string, error) {
	for {
		line, err := readLine(t.source)
		if err == io.EOF {
			return "", err
		}
		if err != nil {
			return "", fmt.Errorf("after line %d: %w", t.line, err)
		}
		t.line++
		if line = strings.TrimSpace(line); line != "" && (t.comment == "" || !strings.HasPrefix(line, t.comment)) {
			return line, nil
		}
	}
}

func (t *textLines) place() string { return fmt.Sprintf("line %d", t.line) }

// readLine reads up to a line break or the end of the file; io.EOF if nothing is left.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part)
		switch {
		case b.Len() > maxLine:
			return "", formatf("a line of more than %d bytes", maxLine)
		case err == nil, errors.Is(err, io.EOF) && b.Len() > 0:
			return b.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// kindOf returns the extension of a file's name in lower case, without the extension of compression.
func kindOf(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return filepath.Ext(name)
}

// maxLine bounds one line or row of text: 2,000,000 numbers.
const maxLine = 64 << 20

// lineLimit fails once more has been read than one row may hold, so that a file that never ends a row
// cannot fill the memory.
type lineLimit struct {
	r          io.Reader
	most, left int64
}

func (l *lineLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, formatf("a row of more than %d bytes", l.most)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// missingTexts are the texts of a missing number, in addition to an empty field.
var missingTexts = [...]string{"", "?", "NA", "N/A", "null"}

// parseNumber reads a number of text; a missing one is NaN. True and false are 1 and 0, as pandas, R and
// spreadsheets write them.
func parseNumber(s string) (float32, error) {
	s = strings.TrimSpace(s)
	v, err := strconv.ParseFloat(s, 32)
	if err == nil || v != 0 { // beyond float32 it is infinite, which is refused with its place
		return float32(v), nil
	}
	switch {
	case strings.EqualFold(s, "true"):
		return 1, nil
	case strings.EqualFold(s, "false"):
		return 0, nil
	}
	if slices.Contains(missingTexts[:], s) {
		return float32(math.NaN()), nil
	}
	whole, decimals, comma := strings.Cut(s, ",")
	if comma && decimals != "" && strings.Trim(whole+decimals, "-0123456789") == "" {
		return 0, valuef("%q has a decimal comma, and commas separate columns: write a point, or separate columns by ;",
			clip(s))
	}
	return 0, valuef("%q is not a number; leave the column out with `data.features.ignore_columns` if it is no feature",
		clip(s))
}
