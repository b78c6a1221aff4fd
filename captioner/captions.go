package captioner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"nmn/captioner/metrics"
	"nmn/internal/input"
	"nmn/loader/annotation"
)

// ReadCaptions reads the captions of clips in any form: the annotations of MSR-VTT, which may be compressed, or one
// of those that metrics.Read takes. split chooses among the clips of MSR-VTT; empty takes all.
func ReadCaptions(ctx context.Context, path, split string) (_ *metrics.Captions, err error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return readStream(ctx, path, split)
	}
	msrvtt, err := annotation.IsMSRVTT(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case msrvtt:
		return readMSRVTT(ctx, path, split)
	case strings.EqualFold(filepath.Ext(path), ".gz"):
		return nil, fmt.Errorf("captions %q: only captions of MSR-VTT may be compressed: unpack the file", path)
	}
	f, err := input.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return metrics.Read(filepath.Base(path), f)
}

func readMSRVTT(ctx context.Context, path, split string) (*metrics.Captions, error) {
	m, err := annotation.ReadForm(ctx, path, annotation.FormMSRVTT)
	if err != nil {
		return nil, err
	}
	return ofSplit(m, path, split)
}

// maxStream bounds the bytes read from a pipe, which are held in memory. The annotations of COCO are 65 MB.
const maxStream = 1 << 30

// readStream reads a pipe, which can be read once. The content decides its form.
func readStream(ctx context.Context, path, split string) (_ *metrics.Captions, err error) {
	f, err := input.OpenStream(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err := io.ReadAll(io.LimitReader(f, maxStream+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("captions %q: %w", path, err)
	case len(content) <= maxStream && annotation.HoldsMSRVTT(bytes.NewReader(content)):
		m, err := annotation.ParseBags(path, annotation.FormMSRVTT, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		return ofSplit(m, path, split)
	}
	return metrics.Read(filepath.Base(path), bytes.NewReader(content)) // refuses what is too large
}

// ofSplit returns the captions of the clips of a split, or of all if it is empty.
func ofSplit(m *annotation.Bags, path, split string) (*metrics.Captions, error) {
	if split != "" {
		m = m.Split(split)
	}
	c := &metrics.Captions{IDs: m.IDs, Of: map[string][]string{}}
	for i, id := range m.IDs {
		for _, s := range m.Captions[i] {
			c.Of[id] = append(c.Of[id], s.Text)
		}
	}
	if len(c.IDs) == 0 {
		return nil, fmt.Errorf("captions %q: no clip belongs to the split %s", path, split)
	}
	return c, nil
}

// AllTexts goes through all captions.
func AllTexts(c *metrics.Captions) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range c.IDs {
			for _, text := range c.Of[id] {
				if !yield(text) {
					return
				}
			}
		}
	}
}
