package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"

	"nmn/internal/half"
	"nmn/internal/input"
)

// File is an open file of tensors. Its methods may be called by several goroutines at once.
type File struct {
	Metadata map[string]string // the free text of the header, empty when there is none

	label   string // for messages
	data    io.ReaderAt
	size    int64
	start   int64 // of the data in the file
	entries []entry
	index   map[string]int
	sums    []uint32 // of the entries; nil if the file has none
	closer  io.Closer
}

// Open reads and checks the header of a file. The caller must Close it.
func Open(path string) (*File, error) {
	osFile, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	f, err := newReader(osFile, osFile.Size(), fmt.Sprintf("%q", path))
	if err != nil {
		_ = osFile.Close() // the file was only read: the first error is the one to report
		return nil, err
	}
	f.closer = osFile
	return f, nil
}

// Digest is the SHA-256 of the whole file in hexadecimal. It reads the file that was opened, even if another
// one now has its name.
func (f *File) Digest() (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f.data, 0, f.size)); err != nil {
		return "", fmt.Errorf("%s: cannot read it for its digest: %w", f.label, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// NewReader reads and checks the header of a file of size bytes. Close does nothing on it.
func NewReader(r io.ReaderAt, size int64) (*File, error) { return newReader(r, size, "safetensors") }

func newReader(r io.ReaderAt, size int64, label string) (*File, error) {
	corrupt := func(format string, arguments ...any) error {
		return fmt.Errorf("%s (%d bytes): %w: %w", label, size, ErrCorrupt, fmt.Errorf(format, arguments...))
	}
	var prefix [8]byte
	if size < int64(len(prefix)) {
		return nil, corrupt("too short for a header")
	}
	if _, err := r.ReadAt(prefix[:], 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: cannot read the header's length: %w", label, err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeader {
		return nil, corrupt("a header of %d bytes, more than %d", length, maxHeader)
	}
	start := int64(len(prefix)) + int64(length)
	if start > size {
		return nil, corrupt("a header of %d bytes, the file is cut short", length)
	}
	header := make([]byte, start)
	if err := readFull(r, header, 0); err != nil {
		return nil, fmt.Errorf("%s: cannot read the header (%d bytes): %w", label, length, err)
	}
	entries, meta, err := parseHeader(header[len(prefix):], size-start)
	if err != nil {
		return nil, corrupt("%w", err)
	}
	f := &File{
		Metadata: meta,
		label:    label,
		data:     r,
		size:     size,
		start:    start,
		entries:  entries,
		index:    make(map[string]int, len(entries)),
	}
	for i, e := range entries {
		f.index[e.name] = i
	}
	if err := f.readSums(header); err != nil {
		return nil, corrupt("%w", err)
	}
	return f, nil
}

// readFull fills p from an offset: io.ReaderAt may return io.EOF together with the last bytes.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Names returns all names in the order of their data in the file.
func (f *File) Names() []string {
	names := make([]string, len(f.entries))
	for i, e := range f.entries {
		names[i] = e.name
	}
	return names
}

// Has reports whether there is a tensor of this name.
func (f *File) Has(name string) bool { _, ok := f.index[name]; return ok }

// Info returns the type and a copy of the shape (empty for a scalar) of a tensor.
func (f *File) Info(name string) (DType, []int, error) {
	e, err := f.find(name)
	return e.dtype, slices.Clone(e.shape), err
}

func (f *File) find(name string) (entry, error) {
	i, ok := f.index[name]
	if !ok {
		return entry{}, fmt.Errorf("%s: tensor %q: %w", f.label, name, ErrNotFound)
	}
	return f.entries[i], nil
}

// Bytes returns the bytes of a tensor as stored in the file, to be read in order or at any offset. They
// are not compared with a checksum.
func (f *File) Bytes(name string) (*io.SectionReader, error) {
	e, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(f.data, f.start+e.begin, e.end-e.begin), nil
}

func (f *File) failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: cannot read tensor %q: %w", f.label, name, err)
}

// count is the number of elements of a tensor that memory of this machine can address.
func (f *File) count(e entry) (int, error) {
	count := (e.end - e.begin) / int64(e.dtype.Size())
	if count > math.MaxInt/8 {
		return 0, fmt.Errorf("%s: tensor %q has %d elements, more than this machine can address", f.label, e.name, count)
	}
	return int(count), nil
}

// Float32 returns the elements, row-major, and the shape of a tensor of type F32, F64 (rounded to
// the nearest), F16 or BF16.
func (f *File) Float32(name string) ([]float32, []int, error) {
	e, decode, err := f.floats(name)
	if err != nil {
		return nil, nil, err
	}
	count, err := f.count(e)
	if err != nil {
		return nil, nil, err
	}
	list := make([]float32, count)
	err = f.chunks(e, f.summer(e), func(at int, b []byte) error { decode(list[at:], b); return nil })
	return list, slices.Clone(e.shape), f.failed(name, err)
}

// floats finds a tensor of floating point, and the conversion of its chunks.
func (f *File) floats(name string) (e entry, decode func(dst []float32, b []byte), err error) {
	if e, err = f.find(name); err != nil {
		return e, nil, err
	}
	if decode = f32Decoder(e.dtype); decode == nil {
		err = fmt.Errorf("%s: tensor %q is %s, not floating point", f.label, name, e.dtype)
	}
	return e, decode, err
}

// Elements starts reading a tensor in pieces. Each call of the returned function gives the next len(dst)
// elements, row-major, converted as in Float32. A tensor may be read several times.
func (f *File) Elements(name string) (func(dst []float32) error, error) {
	e, decode, err := f.floats(name)
	if err != nil {
		return nil, err
	}
	rest, sum, size := e, f.summer(e), int64(e.dtype.Size())
	return func(dst []float32) error {
		piece := rest
		piece.end = rest.begin + int64(len(dst))*size
		if piece.end > rest.end {
			return fmt.Errorf("%s: tensor %q: %d elements requested, %d are left",
				f.label, name, len(dst), (rest.end-rest.begin)/size)
		}
		rest.begin = piece.end
		return f.failed(name, f.chunks(piece, sum, func(at int, b []byte) error { decode(dst[at:], b); return nil }))
	}, nil
}

// Int64 returns the elements, row-major, and the shape of a tensor of integers or booleans (0 and
// 1). An unsigned element above the range of int64 is an error.
func (f *File) Int64(name string) ([]int64, []int, error) {
	e, err := f.find(name)
	if err != nil {
		return nil, nil, err
	}
	decode := integerDecoder(e.dtype)
	if decode == nil {
		return nil, nil, fmt.Errorf("%s: tensor %q is %s, not an integer type", f.label, name, e.dtype)
	}
	count, err := f.count(e)
	if err != nil {
		return nil, nil, err
	}
	size, list := e.dtype.Size(), make([]int64, count)
	err = f.chunks(e, f.summer(e), func(at int, b []byte) error {
		for i := 0; i < len(b)/size; i++ {
			list[at+i] = decode(b[i*size:])
			if e.dtype == U64 && list[at+i] < 0 {
				return fmt.Errorf("element %d does not fit in int64", at+i)
			}
		}
		return nil
	})
	return list, slices.Clone(e.shape), f.failed(name, err)
}

// chunks passes the data of a tensor, or the part of it after the bytes in sum, to use in pieces of whole
// elements. at is the index of the first.
func (f *File) chunks(e entry, sum *summer, use func(at int, b []byte) error) error {
	const chunk = 1 << 16
	size := e.end - e.begin
	buffer := make([]byte, min(size, chunk))
	for done := int64(0); done < size; {
		b := buffer[:min(size-done, chunk)]
		if err := readFull(f.data, b, f.start+e.begin+done); err != nil {
			return err
		}
		if err := sum.add(b); err != nil {
			return err
		}
		if err := use(int(done)/e.dtype.Size(), b); err != nil {
			return err
		}
		done += int64(len(b))
	}
	return nil
}

var little = binary.LittleEndian

// f32Decoder returns the conversion of a chunk, nil for types that are not floating point.
func f32Decoder(dtype DType) func(dst []float32, b []byte) {
	each := func(size int, one func(b []byte) float32) func([]float32, []byte) {
		return func(dst []float32, b []byte) {
			for i := 0; i < len(b)/size; i++ {
				dst[i] = one(b[i*size:])
			}
		}
	}
	switch dtype {
	case F32:
		return each(4, func(b []byte) float32 { return math.Float32frombits(little.Uint32(b)) })
	case F64:
		return each(8, func(b []byte) float32 { return float32(math.Float64frombits(little.Uint64(b))) })
	case F16:
		return each(2, func(b []byte) float32 { return half.Float32(little.Uint16(b)) })
	case BF16:
		return each(2, func(b []byte) float32 { return math.Float32frombits(uint32(little.Uint16(b)) << 16) })
	}
	return nil
}

// Float32Decoder returns the conversion of the bytes of elements to len(dst) float32, rounded to the nearest.
// It returns nil for types without one (8-bit floating point).
func (d DType) Float32Decoder() func(dst []float32, b []byte) {
	if decode := f32Decoder(d); decode != nil {
		return decode
	}
	one, size := integerDecoder(d), d.Size()
	if one == nil {
		return nil
	}
	return func(dst []float32, b []byte) {
		for i := range dst {
			v := one(b[i*size:])
			if dst[i] = float32(v); d == U64 {
				dst[i] = float32(uint64(v))
			}
		}
	}
}

func integerDecoder(dtype DType) func(b []byte) int64 {
	switch dtype {
	case Bool, U8:
		return func(b []byte) int64 { return int64(b[0]) }
	case I8:
		return func(b []byte) int64 { return int64(int8(b[0])) }
	case U16:
		return func(b []byte) int64 { return int64(little.Uint16(b)) }
	case I16:
		return func(b []byte) int64 { return int64(int16(little.Uint16(b))) }
	case U32:
		return func(b []byte) int64 { return int64(little.Uint32(b)) }
	case I32:
		return func(b []byte) int64 { return int64(int32(little.Uint32(b))) }
	case U64, I64:
		return func(b []byte) int64 { return int64(little.Uint64(b)) }
	}
	return nil
}
