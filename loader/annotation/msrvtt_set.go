package annotation

import (
	"errors"
	"fmt"

	"nmn/loader"
	"nmn/text"
)

// MSRVTTOptions say which clips of a file become a Set, and how.
type MSRVTTOptions struct {
	Split           string // train, validate or test
	CaptionsPerClip int    // the first captions by sen_id that are used; 0 is 20, all that MSR-VTT has
	// Has returns why the frames of a clip cannot be used, nil if they can. Without Has every clip can be
	// used.
	Has func(clip string) error
	// LeftOut is called for each clip that is left out because it has no captions, or no frames according to
	// Has. Nil makes it an error.
	LeftOut func(clip string, err error)
}

// ErrNoCaptions is why a clip without any sentence is left out: it would have no labels.
var ErrNoCaptions = errors.New("it has no captions")

// ErrNoClips is wrapped by the error about a split that a file has no clips of.
var ErrNoClips = errors.New("there are no such clips")

// MSRVTTSet labels the clips of a split by their sentences, see NewCaptionSet. Bags are in the order of
// the file, and the ID of a bag is the clip's video_id. The Set has no Source yet.
func MSRVTTSet(m *MSRVTT, vocabulary *text.Vocabulary, o MSRVTTOptions) (*loader.Set, error) {
	perClip := o.CaptionsPerClip
	if perClip == 0 {
		perClip = MSRVTTCaptions
	}
	if perClip < 0 || perClip > loader.MaxCaptions {
		return nil, fmt.Errorf("captions %q: %d captions per clip, allowed are 1 to %d, or 0 for %d",
			m.Name, perClip, loader.MaxCaptions, MSRVTTCaptions)
	}
	clips, err := chooseClips(m, o)
	if err != nil {
		return nil, err
	}
	ids, captions := make([]string, len(clips)), make([][]string, len(clips))
	for i, clip := range clips {
		ids[i] = clip.ID
		for _, sentence := range first(clip.Sentences, perClip) {
			captions[i] = append(captions[i], sentence.Text)
		}
	}
	return loader.NewCaptionSet("msrvtt-"+o.Split, ids, captions, perClip, vocabulary)
}

// chooseClips returns the clips of the split that can be used.
func chooseClips(m *MSRVTT, o MSRVTTOptions) ([]*MSRVTTClip, error) {
	var clips []*MSRVTTClip
	var unused []*MSRVTTClip
	var why []error
	for i := range m.Clips {
		clip := &m.Clips[i]
		if clip.Split != o.Split {
			continue
		}
		err := clip.usable(o.Has)
		if err == nil {
			clips = append(clips, clip)
			continue
		}
		unused, why = append(unused, clip), append(why, err)
	}
	all := len(clips) + len(unused)
	if all == 0 {
		return nil, fmt.Errorf("captions %q: split %q: %w", m.Name, o.Split, ErrNoClips)
	}
	if len(unused) > 0 && o.LeftOut == nil {
		return nil, fmt.Errorf("captions %q: %d of %d clips of the split %q cannot be used, first %q; complete them, "+
			"or leave them out (`data.max_bad_samples`): %w",
			m.Name, len(unused), all, o.Split, loader.Excerpt(unused[0].ID), why[0])
	}
	for i, clip := range unused {
		o.LeftOut(clip.ID, why[i])
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("captions %q: none of %d clips of the split %q can be used, first %q: %w",
			m.Name, all, o.Split, loader.Excerpt(unused[0].ID), why[0])
	}
	return clips, nil
}

// usable returns why a clip cannot be used.
func (c *MSRVTTClip) usable(has func(string) error) error {
	if len(c.Sentences) == 0 {
		return ErrNoCaptions
	}
	if has != nil {
		return has(c.ID)
	}
	return nil
}
