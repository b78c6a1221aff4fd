package export

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"

	"nmn/format/npy"
	"nmn/format/safetensors"
	"nmn/model"
)

// foldedKey is the metadata key for a residual net's folded weights, and foldedText its value.
const (
	foldedKey  = "batch_norm"
	foldedText = "batch normalisation is folded into weights and biases of the convolutions"
)

// Safetensors writes the weights with metadata and checksums. noise includes the noise model's weights. It
// returns the number of tensors.
func Safetensors(w io.WriteSeeker, net *model.Net, noise bool, meta map[string]string) (int, error) {
	all, err := tensors(net, noise)
	if err != nil {
		return 0, err
	}
	if net.Config().Residual != model.Plain {
		meta = maps.Clone(meta)
		if meta == nil {
			meta = map[string]string{}
		}
		meta[foldedKey] = foldedText
	}
	return len(all), safetensors.WriteSummed(w, meta, all)
}

// NPZ writes the weights as numpy.savez does: an array of float32 for each tensor, not compressed.
func NPZ(w io.Writer, net *model.Net, noise bool) (int, error) {
	all, err := tensors(net, noise)
	if err != nil {
		return 0, err
	}
	z := zip.NewWriter(w)
	for _, t := range all {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: t.Name + ".npy", Method: zip.Store})
		if err == nil {
			_, err = entry.Write(npy.Float32Header(t.Shape...))
		}
		if err == nil {
			err = t.WriteData(entry)
		}
		if err != nil {
			return 0, fmt.Errorf("export: cannot write array %q: %w", t.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return 0, fmt.Errorf("export: cannot end the archive: %w", err)
	}
	return len(all), nil
}
