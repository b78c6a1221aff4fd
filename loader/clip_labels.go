package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"nmn/internal/durable"
	"nmn/text"
)

// ClipLabel holds the labels of a clip, in one of three forms, and its true labels if they are known.
type ClipLabel struct {
	Clip     string         `json:"clip"`               // its name in the index of the frames
	Captions []string       `json:"captions,omitempty"` // texts, whose words are the labels
	Counts   map[string]int `json:"counts,omitempty"`   // words, and how many captions mention each
	Labels   []string       `json:"labels,omitempty"`   // words that are given
	Truth    []string       `json:"truth,omitempty"`    // words that hold
}

// LabelsName is the file of labels in a folder of frames, next to the index.
const LabelsName = "labels.jsonl"

// ClipLabelsExample shows what such a file looks like, for messages.
const ClipLabelsExample = `{"format":"nmn-labels","version":1} in its first line, then {"clip":"a.mp4","labels":` +
	`["dog"]} or {"clip":"b.mp4","labels":["cat","grass"]}`

// The name and version of the format of label files.
const (
	labelsFormat  = "nmn-labels"
	labelsVersion = 1
)

// ClipLabelsForm is what holds for all lines of a file of labels.
type ClipLabelsForm struct {
	// CaptionsPerSample is the largest number of captions; 0 where labels do not come from captions.
	CaptionsPerSample int `json:"captions_per_sample,omitempty"`
	// Truth reports whether lines have true labels. An empty list of a line then means that no class holds.
	Truth bool `json:"truth,omitempty"`
}

// labelsHeader is the first line of a label file.
type labelsHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	ClipLabelsForm
}

// WriteClipLabels writes a file of labels in JSON lines: a header, then a line for each clip, in the
// order of the index of their frames. The file appears whole or not at all; memory does not grow with it.
func WriteClipLabels(path string, form ClipLabelsForm, clips iter.Seq2[ClipLabel, error]) error {
	err := durable.Stream(path, 0o644, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		if err := encoder.Encode(labelsHeader{labelsFormat, labelsVersion, form}); err != nil {
			return err
		}
		n := 0
		for clip, err := range clips {
			if err == nil {
				err = clip.check(form)
			}
			if err == nil {
				err = encoder.Encode(clip)
			}
			if err != nil {
				return fmt.Errorf("clip %d: %w", n, err)
			}
			n++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("labels of clips: %w", err)
	}
	return nil
}

// check returns what is wrong with a line.
func (c *ClipLabel) check(form ClipLabelsForm) error {
	kinds := 0
	for _, given := range []bool{c.Captions != nil, c.Counts != nil, c.Labels != nil} {
		if given {
			kinds++
		}
	}
	most := form.CaptionsPerSample
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("clip %q: %s", Excerpt(c.Clip), fmt.Sprintf(format, args...))
	}
	switch {
	case c.Clip == "":
		return errors.New("\"clip\" is missing")
	case kinds > 1:
		return wrong("of captions, counts and labels there may be one")
	case most == 0 && (c.Captions != nil || c.Counts != nil):
		return wrong("captions or counts need captions_per_sample in the header")
	case most > 0 && c.Labels != nil:
		return wrong("labels without captions, and the header has captions_per_sample %d", most)
	case c.Truth != nil && !form.Truth:
		return wrong("truth needs \"truth\":true in the header")
	case len(c.Captions) > most:
		return wrong("%d captions, want at most %d", len(c.Captions), most)
	}
	for word, n := range c.Counts {
		if n < 1 || n > most {
			return wrong("count of %q is %d, want 1 to %d", Excerpt(word), n, most)
		}
	}
	return nil
}

func parseClipLabel(line []byte, form ClipLabelsForm) (ClipLabel, error) {
	var label ClipLabel
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&label); err != nil {
		return label, fmt.Errorf("not the labels of a clip: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return label, errors.New("something follows the labels of the clip")
	}
	return label, label.check(form)
}

// fill lists the classes of a label and their counts. Words that are no classes are none.
func (c *ClipLabel) fill(v *text.Vocabulary, row *Row) {
	row.Labels, row.Counts, row.Captions = row.Labels[:0], row.Counts[:0], nil
	switch {
	case c.Captions != nil:
		row.Captions = mentions(v, c.Captions)
		for _, words := range row.Captions {
			row.Labels = append(row.Labels, words...)
		}
		slices.Sort(row.Labels)
		row.count()
	case c.Counts != nil:
		for word, n := range c.Counts {
			if k, ok := v.Index(word); ok {
				row.Counts = append(row.Counts, Mention{int32(k), uint8(n)})
			}
		}
		slices.SortFunc(row.Counts, func(a, b Mention) int { return cmp.Compare(a.Class, b.Class) })
		for _, of := range row.Counts {
			row.Labels = append(row.Labels, of.Class)
		}
	default:
		row.Labels = appendClasses(row.Labels, v, c.Labels)
	}
}

// appendClasses appends the classes of words to none, ascending and each once.
func appendClasses(none []int32, v *text.Vocabulary, words []string) []int32 {
	classes := none
	for _, word := range words {
		if k, ok := v.Index(word); ok {
			classes = append(classes, int32(k))
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// count joins equal labels, and counts them.
func (r *Row) count() {
	for _, class := range r.Labels {
		if last := len(r.Counts) - 1; last >= 0 && r.Counts[last].Class == class {
			r.Counts[last].Captions++
			continue
		}
		r.Counts = append(r.Counts, Mention{class, 1})
	}
	r.Labels = slices.Compact(r.Labels)
}
