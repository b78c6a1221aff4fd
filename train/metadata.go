package train

import (
	"encoding/json"

	"nmn/model"
)

// ExportMetadata is the metadata that makes a file of weights a checkpoint again. It supports every use of the
// original checkpoint except resuming. Without the noise model it is a checkpoint of a net that has none. It also
// holds the names of the classes, for other programs.
func ExportMetadata(checkpoint string, noise bool) (map[string]string, error) {
	c, err := ReadCheckpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	if !noise {
		c.Model.Noise = model.NoNoise
	}
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		words[i] = w.Text
	}
	meta := map[string]string{}
	for key, value := range map[string]any{frame.Key: c, "classes": words} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		meta[key] = string(text)
	}
	return meta, nil
}
