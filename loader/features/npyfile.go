package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"nmn/format/npy"
	"nmn/format/safetensors"
	"nmn/internal/input"
)

// headerRoom is where the data of an .npy file have begun at the latest.
const headerRoom = 1 << 17

// openNPY opens a matrix that stays on disk.
func openNPY(ctx context.Context, name string, missing bool) (Rows, error) {
	f, err := openRegular(ctx, name)
	if err != nil {
		return nil, err
	}
	a, err := npyArray(f, f.Size())
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("features: %q: %w", name, err)
	}
	return newFileRows(name, a, missing, f), nil
}

// openRegular opens a regular file.
func openRegular(ctx context.Context, name string) (*input.File, error) {
	f, err := input.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	return f, nil
}

// npyArray finds the matrix of an .npy file of size bytes.
func npyArray(r io.ReaderAt, size int64) (array, error) {
	h, start, err := npy.ReadHeader(io.NewSectionReader(r, 0, min(size, headerRoom)))
	if err != nil {
		return array{}, npyFault(err)
	}
	if err := checkNPY(h, size-start); err != nil {
		return array{}, err
	}
	rows, width, _ := matrixOf(h.Shape)
	return array{data: io.NewSectionReader(r, start, size-start), rows: rows, width: width, element: h.Width,
		decode: h.Float32s, vector: len(h.Shape) == 1}, nil
}

func npyFault(err error) error {
	if errors.Is(err, npy.ErrFormat) {
		return formatf("%v", err)
	}
	return err
}

// checkNPY compares the header with the number of data bytes.
func checkNPY(h *npy.Header, bytes int64) error {
	rows, width, err := matrixOf(h.Shape)
	if err != nil {
		return err
	}
	if h.Fortran && width > 1 {
		return formatf("it is stored by columns (Fortran order), so rows cannot be read one by one; " +
			"write it again with numpy.save(name, numpy.ascontiguousarray(array))")
	}
	if want := int64(rows) * int64(width) * int64(h.Width); bytes != want {
		return formatf("%d bytes of data, want %d for an array of shape %v of %s: it is cut short or something was "+
			"appended; copy or write it again", bytes, want, h.Shape, h.Descr)
	}
	return nil
}

// mostElements bounds N·D such that bytes can be counted.
const mostElements = math.MaxInt / 16

// matrixOf takes an array as a matrix: the first dimension counts rows, the others together make one. A vector is one
// of a single column, for the numbers of classes.
func matrixOf(shape []int) (rows, width int, err error) {
	if len(shape) < 1 {
		return 0, 0, formatf("an array of shape %v, want rows × numbers", shape)
	}
	all := 1
	for _, d := range shape {
		if d < 1 || all > mostElements/d {
			return 0, 0, formatf("an array of shape %v is empty or too large", shape)
		}
		all *= d
	}
	return shape[0], all / shape[0], nil
}

// openTensor opens one matrix of a .safetensors file, which stays on disk.
func openTensor(name, tensor string, missing bool) (Rows, error) {
	f, err := safetensors.Open(name)
	if err != nil {
		if errors.Is(err, safetensors.ErrCorrupt) {
			return nil, formatf("features: %v", err)
		}
		return nil, fmt.Errorf("features: %w", err)
	}
	a, err := tensorArray(f, tensor)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("features: %q: %w", name, err)
	}
	return newFileRows(name, a, missing, f), nil
}

func tensorArray(f *safetensors.File, tensor string) (array, error) {
	names := f.Names()
	if err := chosenArray(tensor, names); err != nil {
		return array{}, err
	}
	if tensor == "" {
		tensor = names[0]
	}
	dtype, shape, err := f.Info(tensor)
	if err != nil {
		return array{}, err
	}
	rows, width, err := matrixOf(shape)
	if err != nil {
		return array{}, fmt.Errorf("array %q: %w", tensor, err)
	}
	decode := dtype.Float32Decoder()
	if decode == nil {
		return array{}, formatf("array %q: elements of type %s, want F16, BF16, F32, F64, an integer or BOOL", tensor, dtype)
	}
	data, err := f.Bytes(tensor)
	if err != nil {
		return array{}, err
	}
	return array{data: data, rows: rows, width: width, element: dtype.Size(), decode: decode, vector: len(shape) == 1}, nil
}
