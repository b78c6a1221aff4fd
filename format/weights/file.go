package weights

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nmn/format/safetensors"
	"nmn/internal/input"
)

// File is an open file of named tensors.
type File struct {
	Format   string            // for messages: PyTorch, safetensors, ...
	Metadata map[string]string // free text of a .safetensors file

	label  string // for messages
	arrays []array
	index  map[string]int
	closer io.Closer
}

// array is one tensor of a file.
type array struct {
	name  string
	dtype safetensors.DType
	shape []int
	// open starts at the first element. Each call of the returned function gives the next len(dst) elements,
	// row-major. Callers ask for no more than there are.
	open func() (elements, error)
}

type elements = func(dst []float32) error

// Open opens a file of weights. The content shows its format. The caller must Close it.
func Open(path string) (*File, error) {
	osFile, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Read(osFile, osFile.Size(), path)
	if err != nil {
		_ = osFile.Close() // it was only read: the first error is the one to report
		return nil, err
	}
	f.closer = osFile
	return f, nil
}

// Read opens a file of size bytes in r. name is for messages. Close does nothing on it.
func Read(r io.ReaderAt, size int64, name string) (*File, error) {
	f, err := readFormat(r, size, strings.ToLower(filepath.Ext(name)))
	if err == nil {
		err = f.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("%q (%d bytes): %w", name, size, err)
	}
	f.label = fmt.Sprintf("%q", name)
	return f, nil
}

func readFormat(r io.ReaderAt, size int64, ending string) (*File, error) {
	start := make([]byte, min(size, 16))
	if _, err := r.ReadAt(start, 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("PK")):
		return readZip(r, size)
	case isSafetensors(start): // before pickles, whose first bytes may be the first bytes of a length
		return readSafetensors(r, size)
	case len(start) > 1 && start[0] == pickleProto && start[1] < 6:
		return readLegacyTorch(r, size)
	case slices.Contains([]string{".h5", ".hdf5", ".onnx", ".bin", ".caffemodel"}, ending):
		return nil, faultf("%s is not read: save the weights as .safetensors, .pth or .npz", ending)
	}
	return nil, faultf("it is none of PyTorch's .pth, .safetensors and NumPy's .npz")
}

// isSafetensors reports whether a file begins as a .safetensors file does: with the length of a JSON object, of
// which 4 bytes hold any and 4 are 0, and its brace.
func isSafetensors(start []byte) bool {
	return len(start) > 8 && bytes.Equal(start[4:8], make([]byte, 4)) && start[8] == '{'
}

func readSafetensors(r io.ReaderAt, size int64) (*File, error) {
	s, err := safetensors.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{Format: "safetensors", Metadata: s.Metadata}
	for _, name := range s.Names() {
		dtype, shape, err := s.Info(name)
		if err != nil {
			return nil, err
		}
		f.arrays = append(f.arrays, array{name: name, dtype: dtype, shape: shape, open: func() (elements, error) {
			return s.Elements(name)
		}})
	}
	return f, nil
}

// wrappers are prefixes that training loops put before all names.
var wrappers = []string{"module.", "_orig_mod.", "model.", "net.", "network."}

// finish strips prefixes common to all names and makes the index.
func (f *File) finish() error {
	if len(f.arrays) == 0 {
		return faultf("it holds no tensor")
	}
	for i := 0; i < len(wrappers); i++ {
		lacks := func(a array) bool { return !strings.HasPrefix(a.name, wrappers[i]) }
		if slices.ContainsFunc(f.arrays, lacks) {
			continue
		}
		for j := range f.arrays {
			f.arrays[j].name = f.arrays[j].name[len(wrappers[i]):]
		}
		i = -1 // one may hide another
	}
	f.index = make(map[string]int, len(f.arrays))
	for i, a := range f.arrays {
		if _, twice := f.index[a.name]; twice {
			return faultf("tensor %q occurs twice", clip(a.name))
		}
		f.index[a.name] = i
	}
	return nil
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Names lists the tensors in the order of the file, without prefixes from a training loop.
func (f *File) Names() []string {
	names := make([]string, len(f.arrays))
	for i, a := range f.arrays {
		names[i] = a.name
	}
	return names
}

// Info returns the type and a copy of the shape (empty for a scalar) of a tensor.
func (f *File) Info(name string) (safetensors.DType, []int, error) {
	i, ok := f.index[name]
	if !ok {
		return "", nil, fmt.Errorf("%s: tensor %q: %w", f.label, name, safetensors.ErrNotFound)
	}
	return f.arrays[i].dtype, slices.Clone(f.arrays[i].shape), nil
}

// Elements starts reading a tensor. Each call of the returned function gives the next len(dst) elements,
// row-major, of float32, or of float64, float16 or bfloat16 converted to it. A tensor may be read several
// times.
func (f *File) Elements(name string) (func(dst []float32) error, error) {
	dtype, shape, err := f.Info(name)
	if err != nil {
		return nil, err
	}
	failed := func(err error) error { return fmt.Errorf("%s: tensor %q: %w", f.label, name, err) }
	if !floating(dtype) {
		return nil, failed(faultf("it is %s, want F32, F64, F16 or BF16", dtype))
	}
	left, err := count(shape)
	if err != nil {
		return nil, failed(err)
	}
	next, err := f.arrays[f.index[name]].open()
	if err != nil {
		return nil, failed(err)
	}
	return func(dst []float32) error {
		if int64(len(dst)) > left {
			return failed(fmt.Errorf("%d elements requested, %d are left", len(dst), left))
		}
		left -= int64(len(dst))
		if err := next(dst); err != nil {
			return failed(err)
		}
		return nil
	}, nil
}

// Tensor describes a tensor of a file.
type Tensor struct {
	Name  string            `json:"name"`
	DType safetensors.DType `json:"dtype"`
	Shape []int             `json:"shape"`
}

// Tensors lists the tensors of the file, in its order.
func (f *File) Tensors() (all []Tensor) {
	for _, a := range f.arrays {
		all = append(all, Tensor{a.name, a.dtype, append([]int{}, a.shape...)})
	}
	return all
}
