package captioner

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/text"
)

// Set is clips with features and captions, for training and evaluation: a Source.
type Set struct {
	features FrameFeatures
	clips    []int       // of the features, in their order
	ids      [][][]int32 // of the captions of each clip
	texts    [][]string  // the captions as people wrote them
	Left     LeftOut
}

// LeftOut counts what Join has left out.
type LeftOut struct {
	WithoutCaptions int // clips
	WithoutFeatures int // clips that have captions
	Empty           int // captions without a word
	TooLong         int // captions of more words than asked for
}

// String describes the omissions; empty for none.
func (l LeftOut) String() string {
	var parts []string
	for _, part := range []struct {
		n          int
		what, more string
	}{{l.WithoutCaptions, "clips", "without captions"}, {l.WithoutFeatures, "captioned clips", "without features"},
		{l.Empty, "captions", "without a word"}, {l.TooLong, "captions", "with too many words"}} {
		if part.n > 0 {
			parts = append(parts, text.Count(part.n, part.what)+" "+part.more)
		}
	}
	return strings.Join(parts, ", ")
}

// JoinOptions choose what to leave out.
type JoinOptions struct {
	// Partial leaves out clips without captions and captions without features; else they are errors.
	Partial bool
	// MaxWords is the longest caption to learn, 0 for no limit. Longer ones are left out. References keep them.
	MaxWords int
}

// Texts iterates over the captions of clips with features, except for skipped ones. A vocabulary is built
// from them.
func Texts(f FrameFeatures, captions *metrics.Captions, skip map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for clip := range f.Clips() {
			id := f.ID(clip)
			if skip[id] {
				continue
			}
			for _, text := range captions.Of[id] {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// Join brings features and captions of clips together by their identifiers, in the order of the
// features. Captions that are not UTF-8 are an error; those without a word are left out, and a clip that has
// no other counts as one without captions. Errors wrap ErrInput and name the first clip at fault.
func Join(f FrameFeatures, captions *metrics.Captions, words *Words, o JoinOptions) (*Set, error) {
	s := &Set{features: f}
	known := make(map[string]bool, f.Clips())
	var without string
	for clip := range f.Clips() {
		id := f.ID(clip)
		known[id] = true
		ids, texts, err := s.encode(id, captions.Of[id], words, o.MaxWords)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			if s.Left.WithoutCaptions++; without == "" {
				without = id
			}
			continue
		}
		s.clips, s.ids, s.texts = append(s.clips, clip), append(s.ids, ids), append(s.texts, texts)
	}
	if s.Left.WithoutCaptions > 0 && (!o.Partial || len(s.clips) == 0) {
		return nil, fmt.Errorf("%d of %d clips have no captions, the first is %.80q; captions belong to clips such as "+
			"%.80q (`captions.partial` leaves them out): %w",
			s.Left.WithoutCaptions, f.Clips(), without, first(captions.IDs), ErrInput)
	}
	without = ""
	for _, id := range captions.IDs {
		if !known[id] {
			if s.Left.WithoutFeatures++; without == "" {
				without = id
			}
		}
	}
	if s.Left.WithoutFeatures > 0 && !o.Partial {
		return nil, fmt.Errorf("%d of %d clips with captions have no features, the first is %.80q (`captions.partial` "+
			"leaves them out): %w",
			s.Left.WithoutFeatures, len(captions.IDs), without, ErrInput)
	}
	return s, nil
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// encode gives the captions of a clip their ids.
func (s *Set) encode(clip string, captions []string, words *Words,
	most int) (ids [][]int32, texts []string, err error) {
	for i, text := range captions {
		if !utf8.ValidString(text) {
			return nil, nil, fmt.Errorf("clip %.80q, caption %d is not UTF-8: write the file in UTF-8: %w",
				clip, i+1, ErrInput)
		}
		tokens := Tokens(text)
		if len(tokens) == 0 {
			s.Left.Empty++
			continue
		}
		texts = append(texts, text)
		if most > 0 && len(tokens) > most {
			s.Left.TooLong++
			continue
		}
		ids = append(ids, words.Append(make([]int32, 0, len(tokens)), tokens))
	}
	return ids, texts, nil
}

// The methods that follow implement Source.

func (s *Set) Clips() int                             { return len(s.clips) }
func (s *Set) ID(clip int) string                     { return s.features.ID(s.clips[clip]) }
func (s *Set) Frames() int                            { return s.features.Frames() }
func (s *Set) Width() int                             { return s.features.Width() }
func (s *Set) FrameCount(clip int) int                { return s.features.FrameCount(s.clips[clip]) }
func (s *Set) Features(clip int, dst []float32) error { return s.features.Features(s.clips[clip], dst) }
func (s *Set) Captions(clip int) [][]int32            { return s.ids[clip] }

// References are the reference captions of a clip.
func (s *Set) References(clip int) []string { return s.texts[clip] }

// Subset is some of the clips, in the order given; nil for none.
func (s *Set) Subset(clips []int) *Set {
	if len(clips) == 0 {
		return nil
	}
	sub := &Set{features: s.features}
	for _, clip := range clips {
		sub.clips = append(sub.clips, s.clips[clip])
		sub.ids = append(sub.ids, s.ids[clip])
		sub.texts = append(sub.texts, s.texts[clip])
	}
	return sub
}

// Mentions lists, for each clip and training caption, its words among the most frequent ones: their numbers
// from 0, ascending, each once, and below classes. An audit of captions uses them.
func (s *Set) Mentions(classes int) [][][]int32 {
	out := make([][][]int32, len(s.ids))
	for clip, captions := range s.ids {
		out[clip] = make([][]int32, len(captions))
		for i, ids := range captions {
			var said []int32
			for _, id := range ids {
				if class := int(id) - s2vt.Reserved; class >= 0 && class < classes {
					said = append(said, int32(class))
				}
			}
			slices.Sort(said)
			out[clip][i] = slices.Compact(said)
		}
	}
	return out
}

// Keep returns the clips with a part of their training captions. keep has a value for each of them. Clips
// without any are left out, and the result is nil without clips. References stay.
func (s *Set) Keep(kept [][]bool) *Set {
	out := &Set{features: s.features, Left: s.Left}
	for clip, captions := range s.ids {
		var ids [][]int32
		for i, caption := range captions {
			if kept[clip][i] {
				ids = append(ids, caption)
			}
		}
		if len(ids) > 0 {
			out.clips, out.ids, out.texts = append(out.clips, s.clips[clip]), append(out.ids, ids),
				append(out.texts, s.texts[clip])
		}
	}
	if len(out.clips) == 0 {
		return nil
	}
	return out
}

// HoldOut parts the clips whose identifiers are held from the rest; a part without clips is nil.
func (s *Set) HoldOut(held map[string]bool) (rest, out *Set) {
	var parts [2][]int
	for clip := range s.Clips() {
		part := 0
		if held[s.ID(clip)] {
			part = 1
		}
		parts[part] = append(parts[part], clip)
	}
	return s.Subset(parts[0]), s.Subset(parts[1])
}

// Pairs is the number of captions of all clips.
func (s *Set) Pairs() int {
	n := 0
	for _, captions := range s.ids {
		n += len(captions)
	}
	return n
}

// MostFrequent returns the most frequent caption of all clips as words. Ties are resolved in alphabetical
// order. It is the output of a captioner without features.
func (s *Set) MostFrequent() string {
	counts := map[string]int{}
	for _, texts := range s.texts {
		for _, text := range texts {
			counts[strings.Join(Tokens(text), " ")]++
		}
	}
	best := ""
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		if counts[text] > counts[best] {
			best = text
		}
	}
	return best
}

// Constant returns one caption for every clip.
func (s *Set) Constant(caption string) []Generated {
	generated := make([]Generated, s.Clips())
	for clip := range generated {
		generated[clip] = Generated{ID: s.ID(clip), Caption: caption}
	}
	return generated
}
