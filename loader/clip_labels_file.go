package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"

	"nmn/text"
)

// ClipLabels are the labels of clips, read one by one from a file that WriteClipLabels has written. It
// is safe for concurrent use.
type ClipLabels struct {
	lines   *lineTable
	form    ClipLabelsForm
	buffers sync.Pool // holds *[]byte
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
		return nil, errors.Join(Unusable(fmt.Errorf(
			"labels %q, line 1: %w; want %s; a table of clips is given as the data instead, "+
				"and the folder of their frames by `data.images`", path, err, ClipLabelsExample)), lines.Close())
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
	case h.CaptionsPerSample < 0 || h.CaptionsPerSample > MaxCaptions:
		return fmt.Errorf("captions_per_sample is %d, want 0 to %d", h.CaptionsPerSample, MaxCaptions)
	}
	l.form = h.ClipLabelsForm
	return nil
}

// Close closes the file. Reads that follow fail.
func (l *ClipLabels) Close() error { return l.lines.Close() }

// Len is the number of clips.
func (l *ClipLabels) Len() int { return l.lines.n - 1 }

// read fills a row with the labels of clip i, whose name must equal its name in the index of the frames.
func (l *ClipLabels) read(i int, clip string, v *text.Vocabulary, row *Row) error {
	label, err := l.label(i)
	if err != nil {
		return err
	}
	if label.Clip != clip {
		return l.fail(i, fmt.Errorf("it has the clip %q, but clip %d of the frames is %q: the lines must be in the "+
			"order of their index", Excerpt(label.Clip), i, Excerpt(clip)))
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

// fail returns an error that names the line.
func (l *ClipLabels) fail(i int, err error) error {
	return Unusable(fmt.Errorf("labels %q, line %d: %w", l.lines.name(), i+2, err))
}

// Captioned reports whether labels come from captions.
func (l *ClipLabels) Captioned() bool { return l.form.CaptionsPerSample > 0 }

// Form is what holds for all lines.
func (l *ClipLabels) Form() ClipLabelsForm { return l.form }

// All yields the labels of all clips, in the order of the file. An error ends them.
func (l *ClipLabels) All(ctx context.Context) iter.Seq2[ClipLabel, error] {
	return func(yield func(ClipLabel, error) bool) {
		for i := range l.Len() {
			label, err := l.label(i)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(label, err) || err != nil {
				return
			}
		}
	}
}

// Texts yields the captions of all clips, for a vocabulary. A line that cannot be used ends it with *failed.
func (l *ClipLabels) Texts(ctx context.Context, failed *error) iter.Seq[string] {
	return l.each(ctx, failed, func(label *ClipLabel) iter.Seq[string] { return slices.Values(label.Captions) })
}

// Words yields the words that all clips are labelled with, each word of a clip once. A line that cannot be
// used ends it with *failed.
func (l *ClipLabels) Words(ctx context.Context, failed *error) iter.Seq[string] {
	return l.each(ctx, failed, func(label *ClipLabel) iter.Seq[string] {
		once := map[string]bool{}
		for _, word := range label.Labels {
			once[word] = true
		}
		for word := range label.Counts {
			once[word] = true
		}
		return maps.Keys(once)
	})
}

// each yields the results of a function on each line.
func (l *ClipLabels) each(ctx context.Context, failed *error, in func(*ClipLabel) iter.Seq[string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for label, err := range l.All(ctx) {
			if *failed = err; err != nil {
				return
			}
			for text := range in(&label) {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// clipRows reads the rows of clips by their place in the index.
type clipRows struct {
	clips      *Clips
	labels     *ClipLabels
	vocabulary *text.Vocabulary
}

func (r clipRows) Len() int { return r.clips.Len() }

func (r clipRows) KnowsTruth() bool { return r.labels.form.Truth }

func (r clipRows) Read(ctx context.Context, bag int, row *Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	record, err := r.clips.record(bag)
	if err != nil {
		return err
	}
	return r.labels.read(bag, record.Clip, r.vocabulary, row)
}

// StreamClips returns the set of all clips of a folder, with the labels of a file, in memory that does not
// grow with their number. The ID of a bag is the name of its clip. Hold returns the same set with its labels
// in memory, for uses that need all labels at once: folds, audits, splits by identifier, scores of all bags.
func StreamClips(name string, clips *Clips, labels *ClipLabels, vocabulary *text.Vocabulary) (*Set, error) {
	if vocabulary == nil || vocabulary.Len() == 0 {
		return nil, fmt.Errorf("%s: labels need a vocabulary of at least one word", name)
	}
	if clips.Len() != labels.Len() {
		return nil, Unusable(fmt.Errorf("%s: the labels %q have %d clips, but there are frames of %d: both must have the "+
			"same clips in one order",
			name, labels.lines.name(), labels.Len(), clips.Len()))
	}
	rows := clipRows{clips, labels, vocabulary}
	return &Set{Name: name, Vocabulary: vocabulary, CaptionsPerSample: labels.form.CaptionsPerSample, Rows: rows,
		ByBlocks: true,
		survey:   &survey{}, Source: &ClipSource{clips, clips.record}}, nil
}
