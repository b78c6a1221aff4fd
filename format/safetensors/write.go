package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"nmn/internal/durable"
)

// Tensor is one named array to be written.
type Tensor struct {
	Name  string
	DType DType // may be empty if the type of Data decides it
	Shape []int // the product is the number of elements; empty for a scalar
	// Data is row-major: []float32 (F32), []float64 (F64), []int64 (I64), []int32 (I32), []uint8 (U8
	// or BOOL), []uint16 (U16, or the bits of F16 or BF16), or a func(io.Writer) error that writes
	// exactly the little-endian bytes of the tensor (any DType).
	Data any
}

// Write writes a file. Equal arguments give equal bytes: data is ordered by falling element size, which keeps
// every tensor aligned, and otherwise as given. Extra memory is the header's and one small buffer. Nothing is
// written when an argument is wrong.
func Write(w io.Writer, meta map[string]string, tensors []Tensor) error {
	ordered, err := resolve(tensors)
	if err != nil {
		return err
	}
	header, err := formatHeader(meta, ordered)
	if err != nil {
		return err
	}
	return writeAll(w, header, ordered, make([]uint32, len(ordered)))
}

// writeAll writes header and data, and fills in the checksums of the tensors.
func writeAll(w io.Writer, header []byte, tensors []Tensor, sums []uint32) error {
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("safetensors: cannot write the header: %w", err)
	}
	for i, t := range tensors {
		counted := &countingWriter{w: w}
		if err := t.WriteData(counted); err != nil {
			return fmt.Errorf("safetensors: cannot write tensor %q: %w", t.Name, err)
		}
		if size, _ := byteCount(t.DType, t.Shape); counted.count != size {
			return fmt.Errorf("safetensors: tensor %q: %s %v needs %d bytes, its function wrote %d",
				t.Name, t.DType, t.Shape, size, counted.count)
		}
		sums[i] = counted.sum
	}
	return nil
}

// WriteFile writes a file with checksums, which appears whole or not at all, and returns its size. The
// earlier file under that path stays until then.
func WriteFile(path string, meta map[string]string, tensors []Tensor) (size int64, err error) {
	return ReplaceFile(path, "", meta, tensors)
}

// ReplaceFile is WriteFile that keeps the earlier file at path under the name previous in the same folder,
// and replaces the file of that name. An empty previous keeps nothing.
func ReplaceFile(path, previous string, meta map[string]string, tensors []Tensor) (size int64, err error) {
	file, err := durable.Create(path, 0o644)
	if err != nil {
		return 0, err
	}
	file.KeepOld(previous)
	err = WriteSummed(file, meta, tensors)
	if err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = file.Commit()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return 0, err
	}
	return size, nil
}

// Bytes is the size of the data of tensors, without the header. Tensors that Write refuses count as nothing.
func Bytes(tensors []Tensor) (total int64) {
	for _, t := range tensors {
		if t.check() == nil {
			size, _ := byteCount(t.DType, t.Shape)
			total += size
		}
	}
	return total
}

// Copy returns tensors that hold a copy of the data in memory. Write writes the same bytes for both.
func Copy(tensors []Tensor) ([]Tensor, error) {
	copies, err := resolve(tensors)
	if err != nil {
		return nil, err
	}
	for i := range copies {
		t := &copies[i]
		size, _ := byteCount(t.DType, t.Shape)
		var b bytes.Buffer
		b.Grow(int(size))
		if err := t.WriteData(&b); err != nil {
			return nil, fmt.Errorf("safetensors: cannot copy tensor %q: %w", t.Name, err)
		}
		t.Data = func(w io.Writer) error {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
	return copies, nil
}

// resolve checks all tensors, fills in their types and orders them.
func resolve(tensors []Tensor) ([]Tensor, error) {
	seen := make(map[string]bool, len(tensors))
	ordered := slices.Clone(tensors)
	for i := range ordered {
		t := &ordered[i]
		if t.Name == metadata || !utf8.ValidString(t.Name) || seen[t.Name] {
			return nil, fmt.Errorf("safetensors: tensor name %q is reserved, not UTF-8, or occurs twice", t.Name)
		}
		seen[t.Name] = true
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
	}
	slices.SortStableFunc(ordered, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	return ordered, nil
}

func (t *Tensor) check() error {
	length, types, write := t.describe()
	if write == nil {
		return fmt.Errorf("cannot write data of Go type %T", t.Data)
	}
	if t.DType == "" && len(types) > 0 {
		t.DType = types[0]
	}
	if t.DType.Size() == 0 || len(types) > 0 && !slices.Contains(types, t.DType) {
		return fmt.Errorf("dtype %q does not fit data of Go type %T", t.DType, t.Data)
	}
	size, ok := byteCount(t.DType, t.Shape)
	if !ok {
		return fmt.Errorf("shape %v is negative or too large", t.Shape)
	}
	if length >= 0 && int64(length)*int64(t.DType.Size()) != size {
		return fmt.Errorf("%d elements for shape %v", length, t.Shape)
	}
	return nil
}

// describe returns the number of elements of Data, the types that it may be written as, and how it is written. The
// number is -1 when only writing shows it, no type means any, and write is nil if it cannot be written.
func (t *Tensor) describe() (length int, types []DType, write func(io.Writer) error) {
	switch data := t.Data.(type) {
	case []float32:
		return elements(data, 4, func(b []byte, v float32) []byte { return little.AppendUint32(b, math.Float32bits(v)) }, F32)
	case []float64:
		return elements(data, 8, func(b []byte, v float64) []byte { return little.AppendUint64(b, math.Float64bits(v)) }, F64)
	case []int64:
		return elements(data, 8, func(b []byte, v int64) []byte { return little.AppendUint64(b, uint64(v)) }, I64)
	case []int32:
		return elements(data, 4, func(b []byte, v int32) []byte { return little.AppendUint32(b, uint32(v)) }, I32)
	case []uint16:
		return elements(data, 2, little.AppendUint16, U16, F16, BF16)
	case []uint8:
		return len(data), []DType{U8, Bool}, func(w io.Writer) error { _, err := w.Write(data); return err }
	case func(io.Writer) error:
		return -1, nil, data
	}
	return 0, nil, nil
}

// WriteData writes the elements alone, little-endian.
func (t *Tensor) WriteData(w io.Writer) error {
	_, _, write := t.describe()
	if write == nil {
		return fmt.Errorf("cannot write data of Go type %T", t.Data)
	}
	return write(w)
}

// elements describes data whose elements take size bytes each.
func elements[E any](data []E, size int, encode func([]byte, E) []byte, types ...DType) (
	int, []DType, func(io.Writer) error) {
	return len(data), types, func(w io.Writer) error { return writeElements(w, data, size, encode) }
}

// writeElements encodes in pieces of 64 KiB.
func writeElements[E any](w io.Writer, data []E, size int, encode func([]byte, E) []byte) error {
	const chunk = 1 << 16
	buffer := make([]byte, 0, min(chunk, size*len(data)))
	for len(data) > 0 {
		n := min(len(data), chunk/size)
		buffer = buffer[:0]
		for _, v := range data[:n] {
			buffer = encode(buffer, v)
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// formatHeader returns the length prefix and the header, padded so that the data starts at a
// multiple of eight bytes.
func formatHeader(meta map[string]string, tensors []Tensor) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 8))
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	text := func(s string) {
		_ = encoder.Encode(s)   // a string into memory cannot fail
		b.Truncate(b.Len() - 1) // the encoder's newline
	}
	b.WriteByte('{')
	comma := ""
	if len(meta) > 0 {
		b.WriteString(`"` + metadata + `":{`)
		for _, key := range slices.Sorted(maps.Keys(meta)) {
			if !utf8.ValidString(key) || !utf8.ValidString(meta[key]) {
				return nil, fmt.Errorf("safetensors: metadata %q is not UTF-8", key)
			}
			b.WriteString(comma)
			text(key)
			b.WriteByte(':')
			text(meta[key])
			comma = ","
		}
		b.WriteByte('}')
	}
	var at int64
	for _, t := range tensors {
		size, _ := byteCount(t.DType, t.Shape)
		if at > math.MaxInt64-size {
			return nil, fmt.Errorf("safetensors: tensor %q: all tensors together are too large", t.Name)
		}
		b.WriteString(comma)
		text(t.Name)
		shape, _ := json.Marshal(append([]int{}, t.Shape...)) // integers cannot fail
		fmt.Fprintf(b, `:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.DType, shape, at, at+size)
		at, comma = at+size, ","
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len()-8 > maxHeader {
		return nil, fmt.Errorf("safetensors: a header of %d bytes, more than %d", b.Len()-8, maxHeader)
	}
	little.PutUint64(b.Bytes(), uint64(b.Len()-8))
	return b.Bytes(), nil
}
