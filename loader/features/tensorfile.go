package features

import (
	"errors"
	"fmt"

	"nmn/format/safetensors"
)

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
