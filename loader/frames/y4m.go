package frames

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"io"
	"strconv"
	"strings"
)

// y4mReader reads frames of 8 bits and 4:2:0 in the format YUV4MPEG2: a line of parameters, then each
// frame after a line that begins with FRAME.
type y4mReader struct {
	r             *bufio.Reader
	width, height int
	rate          float64 // frames per second; 0 if not stated
	picture       *image.YCbCr
	read          int // frames
}

// newY4M reads the parameters. Without any byte the stream has no frames and no parameters.
func newY4M(r io.Reader, maxPixels int) (*y4mReader, error) {
	y := &y4mReader{r: bufio.NewReaderSize(r, 1<<16)}
	line, err := y.line()
	if err == io.EOF {
		return y, nil
	}
	if err != nil {
		return nil, err
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "YUV4MPEG2" {
		return nil, fmt.Errorf("ffmpeg's frames begin with %.40q, want YUV4MPEG2", line)
	}
	for _, word := range words[1:] {
		if err := y.parameter(word[0], word[1:]); err != nil {
			return nil, err
		}
	}
	if y.width < 1 || y.height < 1 || y.width > maxSide || y.height > maxSide || y.width*y.height > maxPixels {
		return nil, fmt.Errorf("ffmpeg's frames have %d×%d pixels, at most %d are allowed", y.width, y.height, maxPixels)
	}
	y.picture = image.NewYCbCr(image.Rect(0, 0, y.width, y.height), image.YCbCrSubsampleRatio420)
	return y, nil
}

func (y *y4mReader) parameter(name byte, value string) error {
	var err error
	switch name {
	case 'W':
		y.width, err = strconv.Atoi(value)
	case 'H':
		y.height, err = strconv.Atoi(value)
	case 'F':
		if a, b, err := twoNumbers(value, ":"); err == nil { // else unknown
			y.rate = float64(a) / float64(b)
		}
	case 'C':
		if layout := strings.TrimPrefix(value, "420"); layout == value ||
			strings.HasPrefix(layout, "p") && layout != "paldv" {
			err = errors.New("want 8 bits and 4:2:0")
		}
	}
	if err != nil {
		return fmt.Errorf("ffmpeg's frames have the parameter %.40q: %w", string(name)+value, err)
	}
	return nil
}

// next reads a frame, which is valid until the next call, or returns io.EOF.
func (y *y4mReader) next() (*image.YCbCr, error) {
	line, err := y.line()
	if err != nil {
		return nil, err
	}
	if y.picture == nil || line != "FRAME" && !strings.HasPrefix(line, "FRAME ") {
		return nil, fmt.Errorf("ffmpeg's frame %d begins with %.40q, want FRAME", y.read, line)
	}
	for _, plane := range [][]byte{y.picture.Y, y.picture.Cb, y.picture.Cr} {
		if _, err := io.ReadFull(y.r, plane); err != nil {
			return nil, fmt.Errorf("ffmpeg's frame %d of %d×%d is cut short: %w", y.read, y.width, y.height, err)
		}
	}
	y.read++
	return y.picture, nil
}

// line reads a short line, or returns io.EOF if there is none.
func (y *y4mReader) line() (string, error) {
	const most = 256
	var line []byte
	for len(line) < most {
		c, err := y.r.ReadByte()
		if err == io.EOF && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		if c == '\n' {
			return string(line), nil
		}
		line = append(line, c)
	}
	return "", fmt.Errorf("ffmpeg's frames have a line of more than %d bytes", most)
}
