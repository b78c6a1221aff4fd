package loader

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"nmn/durable"
	"nmn/text"
)

// ClipLabel tells what a clip shows, in one of three ways.
type ClipLabel struct {
	Clip     string         `json:"clip"`               // its name in the index of the frames
	Captions []string       `json:"captions,omitempty"` // texts, whose words are the labels
	Counts   map[string]int `json:"counts,omitempty"`   // words, and how many captions mention each
	Labels   []string       `json:"labels,omitempty"`   // words that hold
}

// The name and version of the format of label files.
const (
	labelsFormat  = "nmn-labels"
	labelsVersion = 1
)

// labelsHeader is the first line of a label file.
type labelsHeader struct {
	Format         string `json:"format"`
	Version        int    `json:"version"`
	CaptionsPerBag int    `json:"captions_per_bag,omitempty"`
}

// WriteClipLabels writes a file of labels in JSON lines: a header, then a line for each clip, in the
// order of the index of their frames. captionsPerBag is 0 where labels do not come from captions. The
// file appears whole or not at all; memory does not grow with it.
func WriteClipLabels(path string, captionsPerBag int, clips iter.Seq2[ClipLabel, error]) (err error) {
	fail := func(err error) error { return fmt.Errorf("cannot write the labels %q: %w", path, err) }
	file, err := durable.Create(path, 0o644)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(labelsHeader{labelsFormat, labelsVersion, captionsPerBag}); err != nil {
		return fail(err)
	}
	n := 0
	for clip, err := range clips {
		if err == nil {
			err = clip.check(captionsPerBag)
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
func (c *ClipLabel) check(captionsPerBag int) error {
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
		return fmt.Errorf("clip %q: of captions, counts and labels there may be one", clipID(c.Clip))
	case captionsPerBag == 0 && (c.Captions != nil || c.Counts != nil):
		return fmt.Errorf("clip %q: captions or counts need captions_per_bag in the header", clipID(c.Clip))
	case captionsPerBag > 0 && c.Labels != nil:
		return fmt.Errorf("clip %q: labels without captions, and the header has captions_per_bag %d", clipID(c.Clip), captionsPerBag)
	case len(c.Captions) > captionsPerBag:
		return fmt.Errorf("clip %q: %d captions, want at most %d", clipID(c.Clip), len(c.Captions), captionsPerBag)
	}
	for word, n := range c.Counts {
		if n < 1 || n > captionsPerBag {
			return fmt.Errorf("clip %q: count of %q is %d, want 1 to %d", clipID(c.Clip), clipID(word), n, captionsPerBag)
		}
	}
	return nil
}

// ClipLabels are the labels of clips, read one by one from a file that WriteClipLabels has written. It
// is safe for concurrent use.
type ClipLabels struct {
	lines          *lineTable
	captionsPerBag int
	buffers        sync.Pool // of *[]byte
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
		return fmt.Errorf("format is %q, want %q", clipID(h.Format), labelsFormat)
	case h.Version != labelsVersion:
		return fmt.Errorf("version %d, this program reads %d", h.Version, labelsVersion)
	case h.CaptionsPerBag < 0 || h.CaptionsPerBag > maxCaptions:
		return fmt.Errorf("captions_per_bag is %d, want 0 to %d", h.CaptionsPerBag, maxCaptions)
	}
	l.captionsPerBag = h.CaptionsPerBag
	return nil
}

// Close closes the file. Reads that follow fail.
func (l *ClipLabels) Close() error { return l.lines.Close() }

// Len is the number of clips.
func (l *ClipLabels) Len() int { return l.lines.n - 1 }

// read fills a row with the labels of clip i, whose name must be that of the index of the frames.
func (l *ClipLabels) read(i int, clip string, v *text.Vocabulary, row *Row) error {
	fail := func(err error) error {
		return fmt.Errorf("labels %q, line %d: %w: %w", l.lines.name(), i+2, err, ErrAnnotations)
	}
	buffer := l.buffers.Get().(*[]byte)
	defer l.buffers.Put(buffer)
	line, err := l.lines.read(i+1, buffer)
	if err != nil {
		return fail(err)
	}
	label, err := parseClipLabel(line, l.captionsPerBag)
	if err != nil {
		return fail(err)
	}
	if label.Clip != clip {
		return fail(fmt.Errorf("it is of the clip %q, and clip %d of the frames is %q: the lines must be in the order of their index", clipID(label.Clip), i, clipID(clip)))
	}
	row.ID = label.Clip
	label.fill(v, row)
	return nil
}

func parseClipLabel(line []byte, captionsPerBag int) (ClipLabel, error) {
	var label ClipLabel
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&label); err != nil {
		return label, fmt.Errorf("not the labels of a clip: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return label, errors.New("something follows the labels of the clip")
	}
	return label, label.check(captionsPerBag)
}

// fill lists the classes of a label and their counts. Words that are no classes are none.
func (c *ClipLabel) fill(v *text.Vocabulary, row *Row) {
	row.Labels, row.Counts = row.Labels[:0], row.Counts[:0]
	switch {
	case c.Captions != nil:
		for _, words := range mentions(v, c.Captions) {
			row.Labels = append(row.Labels, words...)
		}
	case c.Counts != nil:
		for word, n := range c.Counts {
			if k, ok := v.Index(word); ok {
				row.Labels = append(row.Labels, slices.Repeat([]int32{int32(k)}, n)...)
			}
		}
	default:
		for _, word := range c.Labels {
			if k, ok := v.Index(word); ok {
				row.Labels = append(row.Labels, int32(k))
			}
		}
		slices.Sort(row.Labels)
		row.Labels = slices.Compact(row.Labels)
		return
	}
	slices.Sort(row.Labels)
	row.count()
}

// count joins equal labels, and counts them.
func (r *Row) count() {
	kept := r.Labels[:0]
	for _, k := range r.Labels {
		if last := len(kept) - 1; last >= 0 && kept[last] == k {
			r.Counts[last]++
			continue
		}
		kept, r.Counts = append(kept, k), append(r.Counts, 1)
	}
	r.Labels = kept
}

// StreamClips is the set of all clips of a folder, with the labels of a file: in memory that does not
// grow with their number. The ID of a bag is the name of its clip. What such a set cannot do is what
// needs all labels at once: noise, statistics, splits by identifier, scores of all bags.
func StreamClips(name string, clips *Clips, labels *ClipLabels, vocabulary *text.Vocabulary) (*Set, error) {
	if vocabulary == nil || vocabulary.Len() == 0 {
		return nil, fmt.Errorf("%s: labels need a vocabulary of at least one word", name)
	}
	if clips.Len() != labels.Len() {
		return nil, fmt.Errorf("%s: the labels %q are of %d clips, and there are frames of %d: both must be of the same clips in one order: %w",
			name, labels.lines.name(), labels.Len(), clips.Len(), ErrAnnotations)
	}
	rows := clipRows{clips, labels, vocabulary}
	return &Set{Name: name, Vocabulary: vocabulary, CaptionsPerBag: labels.captionsPerBag, Rows: rows,
		Source: &clipStream{clips: clips, limits: DefaultLimits()}}, nil
}
