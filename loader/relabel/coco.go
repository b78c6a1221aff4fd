package relabel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"nmn/loader/manifest"
)

// mostCOCO bounds the file in bytes: the instances of COCO's training pictures are a tenth of it.
const mostCOCO int64 = 4 << 30

// COCO writes the instances of COCO with corrected labels. Annotations of removed labels are left out. An
// added label becomes one more annotation, with the whole picture as its box and "nmn" as its mark. All other
// annotations stay unchanged, byte for byte. m is the manifest that was read from the file.
func COCO(ctx context.Context, m *manifest.Manifest, l Labels, path string) (rows int, err error) {
	ids := make(map[string]string, len(m.Rows))
	for i := range m.Rows {
		for _, file := range m.Rows[i].Files {
			ids[file] = m.Rows[i].ID
		}
	}
	l.joined = m.Joined
	return l.rewrite(ctx, m.File, path, func(in io.Reader, out io.Writer) (int, error) {
		data, err := io.ReadAll(io.LimitReader(in, mostCOCO))
		if err != nil {
			return 0, err
		}
		if int64(len(data)) == mostCOCO {
			return 0, fmt.Errorf("larger than %d bytes: %w", mostCOCO, ErrForm)
		}
		c := coco{labels: &l, class: l.classes(), ids: ids, changed: map[json.Number]bool{}}
		return c.edit(data, out)
	})
}

type coco struct {
	labels *Labels
	class  map[string]int
	ids    map[string]string // bags by the file of their picture

	Images     []cocoImage    `json:"images"`
	Categories []cocoCategory `json:"categories"`

	names   map[json.Number]string // names of categories
	rows    map[json.Number][]uint8
	has     map[json.Number][]bool
	largest int64 // number of an annotation
	changed map[json.Number]bool
}

type cocoImage struct {
	ID     json.Number `json:"id"`
	File   string      `json:"file_name"`
	Width  float64     `json:"width"`
	Height float64     `json:"height"`
}

type cocoCategory struct {
	ID   json.Number `json:"id"`
	Name string      `json:"name"`
}

type cocoAnnotation struct {
	ID       json.Number `json:"id"`
	Image    json.Number `json:"image_id"`
	Category json.Number `json:"category_id"`
}

func (c *coco) edit(data []byte, out io.Writer) (int, error) {
	if err := json.Unmarshal(data, c); err != nil {
		return 0, err
	}
	c.names, c.rows, c.has = map[json.Number]string{}, map[json.Number][]uint8{}, map[json.Number][]bool{}
	for _, category := range c.Categories {
		c.names[category.ID] = c.labels.word(strings.TrimSpace(category.Name)) // as annotation.ReadInstances takes it
	}
	for _, image := range c.Images {
		file := filepath.ToSlash(filepath.Clean(filepath.FromSlash(image.File))) // the path in the reader's form
		if row, ok := c.labels.Rows[c.ids[file]]; ok {
			c.rows[image.ID], c.has[image.ID] = row, make([]bool, len(row))
		}
	}
	start, end, err := valueOf(data, "annotations")
	if err != nil {
		return 0, err
	}
	var annotations []json.RawMessage
	if err := json.Unmarshal(data[start:end], &annotations); err != nil {
		return 0, err
	}
	if annotations, err = c.kept(annotations); err != nil {
		return 0, err
	}
	added, err := c.added()
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(out)
	_, _ = w.Write(data[:start]) // Flush returns the error
	_ = w.WriteByte('[')
	for i, a := range append(annotations, added...) {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_, _ = w.Write(a)
	}
	_ = w.WriteByte(']')
	_, _ = w.Write(data[end:])
	return len(c.changed), w.Flush()
}

// kept returns the annotations without the removed labels.
func (c *coco) kept(annotations []json.RawMessage) ([]json.RawMessage, error) {
	var kept []json.RawMessage
	for i, raw := range annotations {
		var a cocoAnnotation
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, fmt.Errorf("annotation %d: %w", i+1, err)
		}
		if n, err := a.ID.Int64(); err == nil {
			c.largest = max(c.largest, n)
		}
		class, known := c.class[c.names[a.Category]]
		row := c.rows[a.Image]
		switch {
		case row == nil || !known:
		case row[class] == 0:
			c.changed[a.Image] = true
			continue
		default:
			c.has[a.Image][class] = true
		}
		kept = append(kept, raw)
	}
	return kept, nil
}

// added are annotations of labels that no annotation states.
func (c *coco) added() (added []json.RawMessage, err error) {
	category := make(map[string]json.Number, len(c.Categories))
	for _, k := range c.Categories {
		if name := c.names[k.ID]; category[name] == "" {
			category[name] = k.ID
		}
	}
	for _, image := range c.Images {
		for class, on := range c.rows[image.ID] {
			if on == 0 || c.has[image.ID][class] {
				continue
			}
			id, ok := category[c.labels.Words[class]]
			switch {
			case !ok:
				return nil, fmt.Errorf("there is no category %q: %w", c.labels.Words[class], ErrForm)
			case c.largest == math.MaxInt64:
				return nil, errors.New("no annotation can get a larger id")
			}
			c.largest++
			c.changed[image.ID] = true
			a, err := json.Marshal(map[string]any{"id": c.largest, "image_id": image.ID, "category_id": id,
				"bbox": []float64{0, 0, image.Width, image.Height}, "area": image.Width * image.Height, "iscrowd": 0,
				"segmentation": []any{}, "nmn": "label added by an audit; its box is the whole picture"})
			if err != nil {
				return nil, err
			}
			added = append(added, a)
		}
	}
	return added, nil
}
