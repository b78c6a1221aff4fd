package train

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"nmn/format/safetensors"
	"nmn/kernels/tensor"
	"nmn/model"
)

// save writes last.safetensors where anything has changed since it was written, and keeps it as one
// of the best where the last validation says so.
func (t *Trainer) save() error {
	if t.Directory == "" || t.at == t.saved && !t.keeper.waits {
		t.keeper.waits = false
		return nil
	}
	began := time.Now()
	path := filepath.Join(t.Directory, LastName)
	size, err := t.write(path)
	if err != nil {
		return err
	}
	t.saved = t.at
	e := Saved{Epoch: t.at.Epoch, Step: t.at.Step, Path: path, Best: t.keeper.waits, Bytes: size}
	if err := t.keeper.commit(path); err != nil {
		return err
	}
	e.Duration = time.Since(began)
	observers(t.Observers).saved(e)
	return nil
}

// write writes a checkpoint of the stage.
func (t *Trainer) write(path string) (size int64, err error) {
	return WriteCheckpoint(path, checkpointKey, t.checkpoint(), slices.Concat(t.Net.Weights(), t.optimizer.moments(t.Net), t.onlineTensors()))
}

// WriteCheckpoint writes tensors, and what is to be known about them as JSON under a key of the metadata,
// aside, syncs the file and renames it. The file that was there stays whole whatever happens.
func WriteCheckpoint(path, key string, about any, tensors []safetensors.Tensor) (size int64, err error) {
	meta, err := json.Marshal(about)
	if err != nil {
		return 0, fmt.Errorf("training: cannot describe the checkpoint: %w", err)
	}
	size, err = safetensors.WriteFile(path, map[string]string{key: string(meta), "format": "pt"}, tensors)
	if err != nil {
		need := int64(len(meta)) + safetensors.Bytes(tensors)
		return 0, fmt.Errorf("training: cannot save %q: it needs %d bytes of disk beside what is there; the checkpoint before it, if any, is untouched: %w", path, need, err)
	}
	return size, nil
}

func (t *Trainer) checkpoint() Checkpoint {
	return Checkpoint{Format: checkpointFormat, Model: t.Net.Config(), Words: t.identity.words, Data: t.identity.data,
		Stage: t.Stage, Config: t.Config, Position: t.at, Updates: t.optimizer.updates, Best: t.keeper.best}
}

// moments lists the optimizer's state for a checkpoint, in the layout of the parameters' files.
func (o *optimizer) moments(net *model.Net) []safetensors.Tensor {
	var all []safetensors.Tensor
	for i, p := range o.params {
		for _, state := range []struct {
			prefix string
			values *tensor.Tensor
		}{{momentPrefix, o.entries[i].M}, {secondPrefix, o.entries[i].V}} {
			if state.values == nil {
				continue
			}
			all = append(all, safetensors.Tensor{Name: state.prefix + p.File, DType: safetensors.F32, Shape: p.FileShape(),
				Data: func(w io.Writer) error { return o.writeMoment(w, p, state.values) }})
		}
	}
	return all
}

func (o *optimizer) writeMoment(w io.Writer, p *model.Param, values *tensor.Tensor) error {
	host := model.Host(values.Len())
	if err := o.backend.Download(host, values); err != nil {
		return err
	}
	ordered := make([]float32, p.FileLen())
	p.Encode(ordered, host.Float32s())
	var buffer bytes.Buffer
	const piece = 16 << 10
	for chunk := range slices.Chunk(ordered, piece) {
		buffer.Reset()
		for _, v := range chunk {
			buffer.Write(binary.LittleEndian.AppendUint32(buffer.AvailableBuffer(), math.Float32bits(v)))
		}
		if _, err := w.Write(buffer.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
