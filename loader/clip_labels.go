package loader

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"nmn/internal/durable"
	"nmn/loader/picture"
	"nmn/text"
)

// ClipLabel tells what is said of a clip, in one of three ways, and what it shows where that is known.
type ClipLabel struct {
	Clip     string         `json:"clip"`               // its name in the index of the frames
	Captions []string       `json:"captions,omitempty"` // texts, whose words are the labels
	Counts   map[string]int `json:"counts,omitempty"`   // words, and how many captions mention each
	Labels   []string       `json:"labels,omitempty"`   // words that are given
	Truth    []string       `json:"truth,omitempty"`    // words that hold
}

// LabelsName is the file of labels in a folder of frames, beside their index.
const LabelsName = "labels.jsonl"

// The name and version of the format of label files.
const (
	labelsFormat  = "nmn-labels"
	labelsVersion = 1
)

// ClipLabelsForm is what holds for all lines of a file of labels.
type ClipLabelsForm struct {
	CaptionsPerBag int  `json:"captions_per_bag,omitempty"` // at most; 0 where labels do not come from captions
	Truth          bool `json:"truth,omitempty"`            // lines tell what truly holds: nothing, where they list nothing
}

// labelsHeader is the first line of a label file.
type labelsHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	ClipLabelsForm
}

// WriteClipLabels writes a file of labels in JSON lines: a header, then a line for each clip, in the
// order of the index of their frames. The file appears whole or not at all; memory does not grow with it.
func WriteClipLabels(path string, form ClipLabelsForm, clips iter.Seq2[ClipLabel, error]) (err error) {
	fail := func(err error) error { return fmt.Errorf("cannot write the labels %q: %w", path, err) }
	file, err := durable.Create(path, 0o644)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(labelsHeader{labelsFormat, labelsVersion, form}); err != nil {
		return fail(err)
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
			return fail(fmt.Errorf("clip %d: %w", n, err))
		}
		n++
	}
	if err := out.Flush(); err != nil {
		return fail(err)
	}
	if err := file.Commit(); err != nil {
		return fail(err)
	}
	return nil
}

// check says what is wrong with a line.
func (c *ClipLabel) check(form ClipLabelsForm) error {
	ways := 0
	for _, given := range []bool{c.Captions != nil, c.Counts != nil, c.Labels != nil} {
		if given {
			ways++
		}
	}
	switch {
	case c.Clip == "":
		return errors.New("\"clip\" is missing")
	case ways > 1:
		return fmt.Errorf("clip %q: of captions, counts and labels there may be one", Excerpt(c.Clip))
	case form.CaptionsPerBag == 0 && (c.Captions != nil || c.Counts != nil):
		return fmt.Errorf("clip %q: captions or counts need captions_per_bag in the header", Excerpt(c.Clip))
	case form.CaptionsPerBag > 0 && c.Labels != nil:
		return fmt.Errorf("clip %q: labels without captions, and the header has captions_per_bag %d", Excerpt(c.Clip), form.CaptionsPerBag)
	case c.Truth != nil && !form.Truth:
		return fmt.Errorf("clip %q: truth needs \"truth\":true in the header", Excerpt(c.Clip))
	case len(c.Captions) > form.CaptionsPerBag:
		return fmt.Errorf("clip %q: %d captions, want at most %d", Excerpt(c.Clip), len(c.Captions), form.CaptionsPerBag)
	}
	for word, n := range c.Counts {
		if n < 1 || n > form.CaptionsPerBag {
			return fmt.Errorf("clip %q: count of %q is %d, want 1 to %d", Excerpt(c.Clip), Excerpt(word), n, form.CaptionsPerBag)
		}
	}
	return nil
}

// ClipLabels are the labels of clips, read one by one from a file that WriteClipLabels has written. It
// is safe for concurrent use.
type ClipLabels struct {
	lines   *lineTable
	form    ClipLabelsForm
	buffers sync.Pool // of *[]byte
}

// OpenClipLabels opens a file of labels. It looks for the ends of the lines, and at the first; the others
// are looked at when they are read. Close it when it is no longer used.
func OpenClipLabels(path string) (*ClipLabels, error) {
	lines, err := openLines(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	l := &ClipLabels{lines: lines, buffers: sync.Pool{New: func() any { return new([]byte) }}}
	if err := l.readHeader(); err != nil {
		return nil, errors.Join(fmt.Errorf("labels %q, line 1: %w: %w", path, err, ErrAnnotations), lines.Close())
	}
	return l, nil
}

func (l *ClipLabels) readHeader() error {
	var buffer []byte
	line, err := l.lines.read(0, &buffer)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	var h labelsHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("not the header of a file of labels: %w", err)
	}
	switch {
	case h.Format != labelsFormat:
		return fmt.Errorf("format is %q, want %q", Excerpt(h.Format), labelsFormat)
	case h.Version != labelsVersion:
		return fmt.Errorf("version %d, this program reads %d", h.Version, labelsVersion)
	case h.CaptionsPerBag < 0 || h.CaptionsPerBag > MaxCaptions:
		return fmt.Errorf("captions_per_bag is %d, want 0 to %d", h.CaptionsPerBag, MaxCaptions)
	}
	l.form = h.ClipLabelsForm
	return nil
}

// Close closes the file. Reads that follow fail.
func (l *ClipLabels) Close() error { return l.lines.Close() }

// Len is the number of clips.
func (l *ClipLabels) Len() int { return l.lines.n - 1 }

// read fills a row with the labels of clip i, whose name must be that of the index of the frames.
func (l *ClipLabels) read(i int, clip string, v *text.Vocabulary, row *Row) error {
	label, err := l.label(i)
	if err != nil {
		return err
	}
	if label.Clip != clip {
		return l.fail(i, fmt.Errorf("it is of the clip %q, and clip %d of the frames is %q: the lines must be in the order of their index", Excerpt(label.Clip), i, Excerpt(clip)))
	}
	row.ID = label.Clip
	label.fill(v, row)
	row.Truth, row.Known = appendClasses(row.Truth[:0], v, label.Truth), l.form.Truth
	return nil
}

// label reads the line of clip i.
func (l *ClipLabels) label(i int) (ClipLabel, error) {
	buffer := l.buffers.Get().(*[]byte)
	defer l.buffers.Put(buffer)
	line, err := l.lines.read(i+1, buffer)
	if err != nil {
		return ClipLabel{}, l.fail(i, err)
	}
	label, err := parseClipLabel(line, l.form)
	if err != nil {
		return label, l.fail(i, err)
	}
	return label, nil
}

// fail says in which line something is wrong.
func (l *ClipLabels) fail(i int, err error) error {
	return fmt.Errorf("labels %q, line %d: %w: %w", l.lines.name(), i+2, err, ErrAnnotations)
}

// Captioned tells whether labels come from captions.
func (l *ClipLabels) Captioned() bool { return l.form.CaptionsPerBag > 0 }

// Texts gives the captions of all clips, for a vocabulary. A line that cannot be used ends it with *failed.
func (l *ClipLabels) Texts(ctx context.Context, failed *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range l.Len() {
			label, err := l.label(i)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				*failed = err
				return
			}
			for _, caption := range label.Captions {
				if !yield(caption) {
					return
				}
			}
		}
	}
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

// StreamClips is the set of all clips of a folder, with the labels of a file: in memory that does not
// grow with their number. The ID of a bag is the name of its clip. Hold gives the same set with its labels in
// memory, for what needs all of them at once: folds, audits, splits by identifier, scores of all bags.
func StreamClips(name string, clips *Clips, labels *ClipLabels, vocabulary *text.Vocabulary) (*Set, error) {
	if vocabulary == nil || vocabulary.Len() == 0 {
		return nil, fmt.Errorf("%s: labels need a vocabulary of at least one word", name)
	}
	if clips.Len() != labels.Len() {
		return nil, fmt.Errorf("%s: the labels %q are of %d clips, and there are frames of %d: both must be of the same clips in one order: %w",
			name, labels.lines.name(), labels.Len(), clips.Len(), ErrAnnotations)
	}
	rows := clipRows{clips, labels, vocabulary}
	return &Set{Name: name, Vocabulary: vocabulary, CaptionsPerBag: labels.form.CaptionsPerBag, Rows: rows, ByBlocks: true,
		survey: &survey{}, Source: &clipStream{clips: clips, limits: picture.DefaultLimits()}}, nil
}
