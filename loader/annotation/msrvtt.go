package annotation

import (
	"context"

	"fmt"
	"io"
	"iter"
	"nmn/loader"
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
	Sentences []Caption
}

// MSRVTTWarnings count unusual but valid entries of a file.
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

// ReadMSRVTT reads the annotations of MSR-VTT: the JSON, plain or .gz, or the published zip archive. Memory
// grows with the clips and sentences, not with the text around them. Missing and repeated ids, wrong types,
// sentences of unknown clips, unknown splits and a file without clips are errors. They wrap ErrAnnotations
// and name file, array, index and the byte (after decompression) at which the element starts.
func ReadMSRVTT(ctx context.Context, path string) (*MSRVTT, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return ParseMSRVTT(path, r)
}

// ParseMSRVTT is ReadMSRVTT for a stream of plain JSON; name stands in messages.
func ParseMSRVTT(name string, r io.Reader) (*MSRVTT, error) {
	file := msrvttFile{name: name}
	if _, err := readFile(captionFile, name, r, file.format()); err != nil {
		return nil, err
	}
	return file.clipsOf()
}

// msrvttVideo is an element of the array "videos". Pointers separate a missing field from a zero.
type msrvttVideo struct {
	ID     *string `json:"video_id"`
	Split  *string `json:"split"`
	offset int64
}

// msrvttFile is the part of the file that captions need, element by element as it is written.
type msrvttFile struct {
	name      string
	videos    []msrvttVideo
	sentences []captionElement[string]
}

// format reads into the file.
func (f *msrvttFile) format() fileFormat {
	return fileFormat{"an annotation file of MSR-VTT", []fileArray{
		elements("videos", func(e msrvttVideo, offset int64) {
			e.offset = offset
			f.videos = append(f.videos, e)
		}),
		elements("sentences", func(e struct {
			ID      *int64  `json:"sen_id"`
			VideoID *string `json:"video_id"`
			Caption *string `json:"caption"`
		}, offset int64) {
			f.sentences = append(f.sentences, captionElement[string]{id: e.ID, of: e.VideoID, text: e.Caption, offset: offset})
		}),
	}}
}

// clipsOf is join with the sentinel of unusable files.
func (f *msrvttFile) clipsOf() (*MSRVTT, error) {
	m, err := f.join()
	if err != nil {
		return nil, loader.Unusable(err)
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
			return nil, fmt.Errorf("%s: %w", elementPlace(captionFile, f.name, "videos", i, e.offset), err)
		}
		if first, ok := position[*e.ID]; ok {
			return nil, fmt.Errorf("%s: video_id %q repeats videos[%d]",
				elementPlace(captionFile, f.name, "videos", i, e.offset),
				loader.Excerpt(*e.ID), first)
		}
		position[*e.ID] = i
		m.Clips[i] = MSRVTTClip{ID: *e.ID, Split: *e.Split}
	}
	var err error
	m.Warnings.EmptyCaptions, err = attach(captionArray{
		file: f.name, array: "sentences", element: "sentence", id: "sen_id", of: "video_id", text: "caption",
		described: "videos",
	}, f.sentences, position, func(at int) *[]Caption { return &m.Clips[at].Sentences })
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (e *msrvttVideo) check() error {
	switch {
	case e.ID == nil || *e.ID == "":
		return fmt.Errorf("\"video_id\" is missing")
	case e.Split == nil:
		return fmt.Errorf("video %q: \"split\" is missing", loader.Excerpt(*e.ID))
	case *e.Split != loader.TrainSplit && *e.Split != loader.ValidationSplit && *e.Split != loader.TestSplit:
		return fmt.Errorf("video %q: split is %q, want %s, %s or %s", loader.Excerpt(*e.ID), loader.Excerpt(*e.Split),
			loader.TrainSplit, loader.ValidationSplit, loader.TestSplit)
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
			if !texts(first(m.Clips[i].Sentences, perClip), yield) {
				return
			}
		}
	}
}
