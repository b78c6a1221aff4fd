package loader

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// The splits of MSR-VTT, as its annotations name them.
const (
	TrainSplit    = "train"    // 6,513 clips
	ValidateSplit = "validate" // 497
	TestSplit     = "test"     // 2,990, in a file of their own
)

// MSRVTTCaptions is the number of sentences that MSR-VTT has for every clip.
const MSRVTTCaptions = 20

// MSRVTT are the clips and sentences of one file, for example train_val_videodatainfo.json.
type MSRVTT struct {
	Name     string
	Clips    []MSRVTTClip // in the order of the file
	Warnings MSRVTTWarnings
}

// MSRVTTClip is a clip with all its sentences, by ascending sen_id.
type MSRVTTClip struct {
	ID        string // video_id, for example video7
	Split     string
	Sentences []MSRVTTSentence
}

// MSRVTTSentence is one description of a clip.
type MSRVTTSentence struct {
	ID   int64
	Text string
}

// MSRVTTWarnings count what a file may hold, but hardly should.
type MSRVTTWarnings struct {
	EmptyCaptions int // nothing but blanks: kept, they give no labels
}

// String lists the warnings for a log, "" when there are none.
func (w MSRVTTWarnings) String() string {
	if w.EmptyCaptions == 0 {
		return ""
	}
	return fmt.Sprintf("%d empty captions give no labels", w.EmptyCaptions)
}

// ReadMSRVTT reads the annotations of MSR-VTT: the JSON, plain or .gz, or the zip archive in which it
// comes. Memory grows with the clips and sentences, not with the text around them. Missing and
// repeated ids, wrong types, sentences of unknown clips, unknown splits and a file without clips are
// errors that wrap ErrAnnotations and name file, array, index and the byte (after decompression)
// before the element.
func ReadMSRVTT(path string) (*MSRVTT, error) {
	r, err := openAnnotations(path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return ParseMSRVTT(path, r)
}

// ParseMSRVTT is ReadMSRVTT for a stream of plain JSON; name stands in messages.
func ParseMSRVTT(name string, r io.Reader) (*MSRVTT, error) {
	file := msrvttFile{name: name}
	if _, err := readAnnotations(name, r, file.format()); err != nil {
		return nil, err
	}
	return file.clipsOf()
}

// msrvttVideo and msrvttSentence are elements of the arrays "videos" and "sentences". Pointers tell a
// missing field from a zero.
type msrvttVideo struct {
	ID     *string `json:"video_id"`
	Split  *string `json:"split"`
	offset int64
}

type msrvttSentence struct {
	ID      *int64  `json:"sen_id"`
	VideoID *string `json:"video_id"`
	Caption *string `json:"caption"`
	offset  int64
}

// msrvttFile is the part of the file that captions need, element by element as it is written.
type msrvttFile struct {
	name      string
	videos    []msrvttVideo
	sentences []msrvttSentence
}

// format reads into the file.
func (f *msrvttFile) format() annotationFormat {
	return annotationFormat{"an annotation file of MSR-VTT", []annotationArray{
		elements("videos", func(e msrvttVideo, offset int64) {
			e.offset = offset
			f.videos = append(f.videos, e)
		}),
		elements("sentences", func(e msrvttSentence, offset int64) {
			e.offset = offset
			f.sentences = append(f.sentences, e)
		}),
	}}
}

// clipsOf is join with the sentinel of unusable files.
func (f *msrvttFile) clipsOf() (*MSRVTT, error) {
	m, err := f.join()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrAnnotations)
	}
	return m, nil
}

// join checks the elements and hangs the sentences on their clips.
func (f *msrvttFile) join() (*MSRVTT, error) {
	if len(f.videos) == 0 {
		return nil, fmt.Errorf("captions %q: there are no videos", f.name)
	}
	m := &MSRVTT{Name: f.name, Clips: make([]MSRVTTClip, len(f.videos))}
	position := make(map[string]int, len(f.videos))
	for i := range f.videos {
		e := &f.videos[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", annotationPlace(f.name, "videos", i, e.offset), err)
		}
		if first, ok := position[*e.ID]; ok {
			return nil, fmt.Errorf("%s: video_id %q repeats videos[%d]", annotationPlace(f.name, "videos", i, e.offset), clipID(*e.ID), first)
		}
		position[*e.ID] = i
		m.Clips[i] = MSRVTTClip{ID: *e.ID, Split: *e.Split}
	}
	if err := f.attach(m, position); err != nil {
		return nil, err
	}
	for i := range m.Clips {
		slices.SortFunc(m.Clips[i].Sentences, func(a, b MSRVTTSentence) int { return cmp.Compare(a.ID, b.ID) })
	}
	return m, nil
}

// attach appends each sentence to its clip.
func (f *msrvttFile) attach(m *MSRVTT, position map[string]int) error {
	seen := make(map[int64]int, len(f.sentences))
	for i := range f.sentences {
		e := &f.sentences[i]
		place := func() string { return annotationPlace(f.name, "sentences", i, e.offset) }
		if err := e.check(); err != nil {
			return fmt.Errorf("%s: %w", place(), err)
		}
		if first, ok := seen[*e.ID]; ok {
			return fmt.Errorf("%s: sen_id %d repeats sentences[%d]", place(), *e.ID, first)
		}
		seen[*e.ID] = i
		at, ok := position[*e.VideoID]
		if !ok {
			return fmt.Errorf("%s: video_id %q is none of the videos", place(), clipID(*e.VideoID))
		}
		if strings.TrimSpace(*e.Caption) == "" {
			m.Warnings.EmptyCaptions++
		}
		m.Clips[at].Sentences = append(m.Clips[at].Sentences, MSRVTTSentence{ID: *e.ID, Text: *e.Caption})
	}
	return nil
}

func (e *msrvttVideo) check() error {
	switch {
	case e.ID == nil || *e.ID == "":
		return fmt.Errorf("\"video_id\" is missing")
	case e.Split == nil:
		return fmt.Errorf("video %q: \"split\" is missing", clipID(*e.ID))
	case *e.Split != TrainSplit && *e.Split != ValidateSplit && *e.Split != TestSplit:
		return fmt.Errorf("video %q: split is %q, want %s, %s or %s", clipID(*e.ID), clipID(*e.Split), TrainSplit, ValidateSplit, TestSplit)
	}
	return nil
}

func (e *msrvttSentence) check() error {
	switch {
	case e.ID == nil:
		return fmt.Errorf("\"sen_id\" is missing")
	case e.VideoID == nil:
		return fmt.Errorf("sentence %d: \"video_id\" is missing", *e.ID)
	case e.Caption == nil:
		return fmt.Errorf("sentence %d: \"caption\" is missing", *e.ID)
	}
	return nil
}

// Texts goes through the first perClip sentences of every clip of a split (0: all), for
// text.BuildVocabulary.
func (m *MSRVTT) Texts(split string, perClip int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range m.Clips {
			if m.Clips[i].Split != split {
				continue
			}
			for _, sentence := range m.Clips[i].first(perClip) {
				if !yield(sentence.Text) {
					return
				}
			}
		}
	}
}

// first returns the first n sentences by sen_id, all of them when n is 0 or too large.
func (c *MSRVTTClip) first(n int) []MSRVTTSentence {
	if n <= 0 || n > len(c.Sentences) {
		return c.Sentences
	}
	return c.Sentences[:n]
}
