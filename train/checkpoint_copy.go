package train

import (
	"fmt"

	"nmn/format/safetensors"
)

// Hold copies a checkpoint of at most this many bytes into memory. replace writes it later.
func Hold[About any](about *About, tensors []safetensors.Tensor, most int64, replace ReplaceFunc[About]) (*Held,
	error) {
	size := safetensors.Bytes(tensors)
	if size > most {
		return nil, fmt.Errorf("training: the best checkpoint so far takes %d bytes, and %d are left for those that "+
			"wait in memory for room on the disk", size, max(most, 0))
	}
	copies, err := safetensors.Copy(tensors)
	if err != nil {
		return nil, fmt.Errorf("training: cannot keep a checkpoint in memory: %w", err)
	}
	return &Held{Bytes: size, Write: func(path string) error {
		_, err := replace(path, "", about, copies)
		return err
	}}, nil
}
