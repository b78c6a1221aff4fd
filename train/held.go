package train

import (
	"bytes"
	"fmt"
	"io"

	"nmn/format/safetensors"
)

// Hold copies a checkpoint into memory, of at most so many bytes, to be written by replace later.
func Hold[About any](about *About, tensors []safetensors.Tensor, most int64, replace ReplaceFunc[About]) (*Held,
	error) {
	size := safetensors.Bytes(tensors)
	if size > most {
		return nil, fmt.Errorf("training: the best checkpoint so far takes %d bytes, and %d are left for those that "+
			"wait in memory for room on the disk", size, max(most, 0))
	}
	copies := make([]safetensors.Tensor, len(tensors))
	for i, t := range tensors {
		var b bytes.Buffer
		b.Grow(int(safetensors.Bytes(tensors[i : i+1])))
		if err := t.WriteData(&b); err != nil {
			return nil, fmt.Errorf("training: cannot copy %s: %w", t.Name, err)
		}
		t.Data = func(w io.Writer) error {
			_, err := w.Write(b.Bytes())
			return err
		}
		copies[i] = t
	}
	return &Held{Bytes: size, Write: func(path string) error {
		_, err := replace(path, "", about, copies)
		return err
	}}, nil
}
