package product

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"nmn/cuda/cublas"
	"nmn/internal/durable"
)

// Limits on a file of choices: far above the needs of any network.
const (
	choicesFormat   = 1
	maxChoicesBytes = 16 << 20
)

// Choice is how a product is computed, with the measurements: the microseconds of the fastest plan of each
// library, 0 for a library without one.
type Choice struct {
	Library  Library     `json:"library"`
	Way      *cublas.Way `json:"way,omitempty"` // of cuBLASLt; nil for cuDNN, which keeps its own plans
	CuBLASLt float64     `json:"cublaslt_microseconds"`
	CuDNN    float64     `json:"cudnn_microseconds"`
}

// choices are the choices for a device and a version of each library. A file stores them.
type choices struct {
	Format   int               `json:"format"`
	CuBLASLt int               `json:"cublaslt"` // version
	CuDNN    int               `json:"cudnn"`
	Device   string            `json:"device"`
	Products map[string]Choice `json:"products"`
}

func newChoices(cuBLASLt, cuDNN int, device string) *choices {
	return &choices{Format: choicesFormat, CuBLASLt: cuBLASLt, CuDNN: cuDNN, Device: device, Products: map[string]Choice{}}
}

// read reads the choices of a file for the same device and versions. A missing file gives none. A corrupt
// file, or one for another device or version, gives an error with the reason.
func (c *choices) read(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := decodeChoices(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if found.CuBLASLt != c.CuBLASLt || found.CuDNN != c.CuDNN || found.Device != c.Device {
		return fmt.Errorf("%s: it is for cuBLASLt %d and cuDNN %d on %q, these are %d and %d on %q",
			path, found.CuBLASLt, found.CuDNN, found.Device, c.CuBLASLt, c.CuDNN, c.Device)
	}
	c.Products = found.Products
	return nil
}

// decodeChoices reads and checks choices.
func decodeChoices(r io.Reader) (*choices, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxChoicesBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxChoicesBytes {
		return nil, fmt.Errorf("more than %d bytes", maxChoicesBytes)
	}
	c := &choices{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if c.Format != choicesFormat {
		return nil, fmt.Errorf("format %d, want %d", c.Format, choicesFormat)
	}
	if c.Products == nil {
		return nil, errors.New("products are missing")
	}
	for key, choice := range c.Products {
		if err := choice.check(); err != nil {
			return nil, fmt.Errorf("product %q: %w", key, err)
		}
	}
	return c, nil
}

func (c Choice) check() error {
	switch {
	case c.Library != CuDNN && c.Library != CuBLASLt:
		return fmt.Errorf("library %q, want %s or %s", c.Library, CuDNN, CuBLASLt)
	case (c.Library == CuBLASLt) != (c.Way != nil):
		return fmt.Errorf("a way of cuBLASLt belongs to %s, and to it alone", CuBLASLt)
	}
	for _, microseconds := range []float64{c.CuBLASLt, c.CuDNN} {
		if math.IsNaN(microseconds) || microseconds < 0 {
			return fmt.Errorf("%v microseconds", microseconds)
		}
	}
	if c.Way == nil {
		return nil
	}
	return c.Way.Check()
}

// write replaces the file by the choices.
func (c *choices) write(path string) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return durable.WriteFile(path, append(text, '\n'), 0o666)
}
