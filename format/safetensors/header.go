package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxHeader bounds the header, as the format's reference implementation does: 100 MB.
const maxHeader = 100_000_000

// entry is a tensor of the header. begin and end are byte offsets into the data.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	begin, end int64
}

// parseHeader reads the JSON and checks that the tensors cover the data, of dataSize bytes, once and
// without holes. The entries come back in the order of their data.
func parseHeader(header []byte, dataSize int64) (entries []entry, meta map[string]string, err error) {
	switch {
	case len(header) == 0 || header[0] != '{':
		return nil, nil, errors.New("the header does not start with {")
	case !utf8.Valid(header):
		return nil, nil, errors.New("the header is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.UseNumber()
	meta = map[string]string{}
	err = object(d, func(key string) error {
		if key == metadata {
			return object(d, func(key string) error {
				text, err := d.Token()
				value, ok := text.(string)
				if err == nil && !ok {
					err = fmt.Errorf("metadata %q is not a string", key)
				}
				meta[key] = value
				return err
			})
		}
		e, err := parseEntry(d, key)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("header, about byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("the header continues after its object, at byte %d", d.InputOffset())
	}
	return entries, meta, checkCover(entries, dataSize)
}

// object reads { key: value, ... }. value reads one value. Repeated keys are an error.
func object(d *json.Decoder, value func(key string) error) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key := token.(string) // the decoder accepts nothing else here
		if seen[key] {
			return fmt.Errorf("%q occurs twice", key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	return delimiter(d, '}')
}

func delimiter(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err == nil && token != want {
		err = fmt.Errorf("found %v instead of %v", token, want)
	}
	return err
}

func parseEntry(d *json.Decoder, name string) (entry, error) {
	e := entry{name: name}
	var offsets []int64
	fields := 0
	err := object(d, func(key string) (err error) {
		fields++
		switch key {
		case "dtype":
			var token json.Token
			if token, err = d.Token(); err != nil {
				return err
			}
			text, _ := token.(string)
			if e.dtype = DType(text); e.dtype.Size() == 0 {
				return fmt.Errorf("unknown dtype %v", token)
			}
		case "shape":
			e.shape, err = dimensions(d)
		case "data_offsets":
			offsets, err = integers(d)
		default:
			err = fmt.Errorf("unknown field %q", key)
		}
		return err
	})
	if err != nil {
		return e, fmt.Errorf("tensor %q: %w", name, err)
	}
	if fields != 3 || len(offsets) != 2 {
		return e, fmt.Errorf("tensor %q: needs dtype, shape and two data_offsets", name)
	}
	e.begin, e.end = offsets[0], offsets[1]
	size, ok := byteCount(e.dtype, e.shape)
	switch {
	case !ok:
		return e, fmt.Errorf("tensor %q: shape %v is too large", name, e.shape)
	case e.end < e.begin || e.end-e.begin != size:
		return e, fmt.Errorf("tensor %q: %s %v needs %d bytes, its data_offsets %v hold %d",
			name, e.dtype, e.shape, size, offsets, e.end-e.begin)
	}
	return e, nil
}

// dimensions reads an array of integers that are at least 0 and fit in an int.
func dimensions(d *json.Decoder) ([]int, error) {
	list, err := integers(d)
	shape := make([]int, len(list))
	for i, n := range list {
		if shape[i] = int(n); int64(shape[i]) != n && err == nil {
			err = fmt.Errorf("%d is not a size on this machine", n)
		}
	}
	return shape, err
}

// integers reads an array of integers that are at least 0.
func integers(d *json.Decoder) ([]int64, error) {
	if err := delimiter(d, '['); err != nil {
		return nil, err
	}
	list := []int64{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		number, _ := token.(json.Number)
		n, err := strconv.ParseInt(number.String(), 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%v is not a size", token)
		}
		list = append(list, n)
	}
	return list, delimiter(d, ']')
}

func checkCover(entries []entry, dataSize int64) error {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	var at int64
	for i, e := range entries {
		switch {
		case e.begin < at:
			return fmt.Errorf("tensor %q at bytes %d to %d overlaps tensor %q", e.name, e.begin, e.end, entries[i-1].name)
		case e.begin > at:
			return fmt.Errorf("tensor %q starts at byte %d: bytes %d to %d belong to no tensor", e.name, e.begin, at, e.begin)
		case e.end > dataSize:
			return fmt.Errorf("tensor %q ends at byte %d, the data at %d: the file is cut short", e.name, e.end, dataSize)
		}
		at = e.end
	}
	if at != dataSize {
		return fmt.Errorf("%d bytes after the last tensor", dataSize-at)
	}
	return nil
}
