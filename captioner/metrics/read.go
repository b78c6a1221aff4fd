package metrics

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrFormat is wrapped by all errors about the form of a file.
var ErrFormat = errors.New("not a file of captions that can be read")

// Captions are the captions of each picture, in the order of the file.
type Captions struct {
	IDs []string // each once, in the order in which they first come
	Of  map[string][]string
}

func (c *Captions) add(id, caption string) {
	if _, known := c.Of[id]; !known {
		c.IDs = append(c.IDs, id)
	}
	c.Of[id] = append(c.Of[id], caption)
}

// Read takes captions from any of the forms that they are kept in: COCO results ([{"image_id", "caption"},
// ...]), COCO annotations ({"annotations": [...]}), an object of lists ({"id": ["caption", ...]}), JSON
// lines of {"image_id", "caption"} or CSV with a header of id and caption. name is for messages.
func Read(name string, r io.Reader) (*Captions, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("captions %s: %w", name, err)
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("captions %s: larger than %d MiB: %w", name, maxFile>>20, ErrFormat)
	}
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))
	if at := invalidUTF8(content); at >= 0 {
		return nil, fmt.Errorf("captions %s: line %d is not UTF-8 (byte %d): save the file in UTF-8: %w",
			name, 1+bytes.Count(content[:at], []byte("\n")), at+1, ErrFormat)
	}
	out := &Captions{Of: map[string][]string{}}
	if err := out.read(content); err != nil {
		return nil, fmt.Errorf("captions %s: %w", name, err)
	}
	if len(out.IDs) == 0 {
		return nil, fmt.Errorf("captions %s: there are none: %w", name, ErrFormat)
	}
	return out, nil
}

// invalidUTF8 is the place of the first byte that is no UTF-8, -1 for none.
func invalidUTF8(content []byte) int {
	if utf8.Valid(content) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(content[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// maxFile bounds the bytes read into memory. The annotations of COCO are 65 MB.
const maxFile = 1 << 30

func (c *Captions) read(content []byte) error {
	switch {
	case len(content) == 0:
		return fmt.Errorf("empty file: %w", ErrFormat)
	case content[0] == '[':
		return c.readList(content, "")
	case content[0] == '{':
		return c.readObject(content)
	}
	return c.readCSV(content)
}

// entry is one caption in JSON; an identifier is a number or a string.
type entry struct {
	ImageID *json.RawMessage `json:"image_id"`
	VideoID *json.RawMessage `json:"video_id"`
	Caption *string          `json:"caption"`
}

func (c *Captions) addEntry(e entry) error {
	raw := cmp.Or(e.ImageID, e.VideoID)
	if raw == nil || e.Caption == nil {
		return fmt.Errorf("it lacks image_id (or video_id) or caption: %w", ErrFormat)
	}
	id, err := identifier(*raw)
	if err == nil {
		c.add(id, *e.Caption)
	}
	return err
}

func identifier(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return "", fmt.Errorf("its identifier is %.40s, want a number or a string: %w", raw, ErrFormat)
	}
	return n.String(), nil
}

func (c *Captions) readList(list []byte, what string) error {
	var entries []entry
	if err := json.Unmarshal(list, &entries); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	for i, e := range entries {
		if err := c.addEntry(e); err != nil {
			return fmt.Errorf("%selement %d: %w", what, i, err)
		}
	}
	return nil
}

// readObject takes annotations, an object of lists, or lines of objects.
func (c *Captions) readObject(content []byte) error {
	d := json.NewDecoder(bytes.NewReader(content))
	var fields map[string]json.RawMessage
	if err := d.Decode(&fields); err != nil {
		return fmt.Errorf("near byte %d: %w: %w", d.InputOffset(), ErrFormat, err)
	}
	if d.More() || fields["caption"] != nil {
		return c.readLines(content)
	}
	if list := fields["annotations"]; list != nil {
		return c.readList(list, "annotations, ")
	}
	for _, id := range slices.Sorted(maps.Keys(fields)) {
		var captions []string
		if err := json.Unmarshal(fields[id], &captions); err != nil {
			return fmt.Errorf("the captions of %.60q are not a list of strings, and there is no list "+
				"\"annotations\": %w", id, ErrFormat)
		}
		for _, caption := range captions {
			c.add(id, caption)
		}
	}
	return nil
}

func (c *Captions) readLines(content []byte) error {
	number := 0
	for line := range bytes.Lines(content) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w: %w", number, ErrFormat, err)
		}
		if err := c.addEntry(e); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

func (c *Captions) readCSV(content []byte) error {
	r := csv.NewReader(bytes.NewReader(content))
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	column := func(names ...string) int {
		return slices.IndexFunc(header, func(h string) bool {
			return slices.Contains(names, strings.ToLower(strings.TrimSpace(h)))
		})
	}
	id, caption := column("id", "image_id", "video_id"), column("caption")
	if id < 0 || caption < 0 {
		return fmt.Errorf("neither JSON nor CSV with the columns id and caption (its first line has %d columns): %w",
			len(header), ErrFormat)
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		c.add(record[id], record[caption])
	}
}

// Join pairs candidates and references. Every picture must have one candidate and at least one reference.
// Errors name the picture. References without a candidate are an error too unless partial is set, because
// scores of some pictures are not comparable with scores of all.
func Join(candidates, references *Captions, partial bool) ([]Item, error) {
	items := make([]Item, len(candidates.IDs))
	for i, id := range candidates.IDs {
		captions := candidates.Of[id]
		if len(captions) > 1 {
			return nil, fmt.Errorf("%s has %d generated captions, want one: %w", id, len(captions), ErrInput)
		}
		items[i] = Item{id, captions[0], references.Of[id]}
		if len(items[i].References) == 0 {
			return nil, fmt.Errorf("%s (caption %d) is not among the %d references: do the files belong together? %w",
				id, i+1, len(references.IDs), ErrInput)
		}
	}
	if !partial && len(items) < len(references.IDs) {
		missing := slices.IndexFunc(references.IDs, func(id string) bool { return candidates.Of[id] == nil })
		return nil, fmt.Errorf("%d of %d pictures with references have no generated caption, the first is %.80s "+
			"(`captions.partial` scores the others alone): %w",
			len(references.IDs)-len(items), len(references.IDs), references.IDs[missing], ErrInput)
	}
	return items, nil
}
