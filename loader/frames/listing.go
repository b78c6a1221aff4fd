package frames

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// listing is the output of ffmpeg's muxer framecrc: lines of # and a property, then a line for each packet or
// frame, of numbers and commas.
type listing struct {
	width, height int
	tick, ticks   int // a unit of time is tick/ticks seconds
	count         int // packets or frames

	wanted []int     // whose times are kept, in their order
	times  []float64 // times of the received frames; NaN if there is none
}

const listingLine = 4 << 10 // bytes

// read reads it to its end, in memory of a line.
func (l *listing) read(r io.Reader) error {
	b := bufio.NewReaderSize(r, listingLine)
	for number := 1; ; number++ {
		line, err := b.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err == nil {
			err = l.line(strings.TrimSpace(string(line)))
		} else if err == io.EOF {
			err = io.ErrUnexpectedEOF
		} else if errors.Is(err, bufio.ErrBufferFull) {
			err = fmt.Errorf("more than %d bytes", listingLine)
		}
		if err != nil {
			return fmt.Errorf("ffmpeg's list of frames, line %d: %w", number, err)
		}
	}
}

func (l *listing) line(line string) error {
	if property, is := strings.CutPrefix(line, "#"); is {
		return l.property(property)
	}
	fields := strings.SplitN(line, ",", 4)
	if len(fields) < 4 || fields[0] != "0" || l.ticks == 0 || l.width == 0 {
		return fmt.Errorf("%.60q is not a frame", line)
	}
	if k := len(l.times); k < len(l.wanted) && l.wanted[k] == l.count {
		t, err := l.time(strings.TrimSpace(fields[2]))
		if err != nil {
			return err
		}
		l.times = append(l.times, t)
	}
	l.count++
	return nil
}

func (l *listing) property(text string) error {
	name, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	var err error
	switch name {
	case "tb 0":
		l.tick, l.ticks, err = twoNumbers(value, "/")
	case "dimensions 0":
		l.width, l.height, err = twoNumbers(value, "x")
	}
	return err
}

// time parses a time in seconds; ffmpeg writes the least integer, or a word, if there is none.
func (l *listing) time(text string) (float64, error) {
	if text == "NOPTS" {
		return math.NaN(), nil
	}
	t, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.30q is not a time", text)
	}
	if t == math.MinInt64 {
		return math.NaN(), nil
	}
	return float64(t) * float64(l.tick) / float64(l.ticks), nil
}

// twoNumbers reads two positive numbers with something between.
func twoNumbers(text, between string) (int, int, error) {
	first, second, _ := strings.Cut(text, between)
	a, err := strconv.ParseInt(first, 10, 32)
	b, err2 := strconv.ParseInt(second, 10, 32)
	if err != nil || err2 != nil || a < 1 || b < 1 {
		return 0, 0, fmt.Errorf("%.40q, want two numbers and %q", text, between)
	}
	return int(a), int(b), nil
}
