package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"nmn/loader/picture"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// ErrCorrupt marks a picture or a vector that cannot be used: its file is missing, unreadable, damaged or beyond
// the limits. A Source wraps it, and the Loader skips such bags up to a limit.
var ErrCorrupt = picture.ErrCorrupt

// Source gives the pixels of the frames of bags. It must be safe for concurrent use.
//
// A Source may have two more methods, ReadEncoded and Identity, for the functions of these names.
type Source interface {
	// Frames is the number of frames of bag i: 1 for an image, at least 1 for a video.
	Frames(bag int) int
	// Read decodes a frame into pic, as the settings of pic ask for, growing pic.Pix if needed. A picture that
	// cannot be decoded gives an error that wraps ErrCorrupt and names the file.
	Read(ctx context.Context, bag, frame int, pic *picture.Picture) error
}

// encodedSource is a Source of files that can be looked at as they are stored.
type encodedSource interface {
	// ReadEncoded reads the file of a frame into buffer, growing it where needed.
	ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error)
}

// ReadEncoded reads the file of a frame as it is stored, undecoded, into buffer, which it grows if needed. If
// a file cannot be read, the error wraps ErrCorrupt. If the Source has no files, as for scenes, the error
// wraps errors.ErrUnsupported.
func ReadEncoded(ctx context.Context, s Source, bag, frame int, buffer []byte) ([]byte, error) {
	files, ok := s.(encodedSource)
	if !ok {
		return buffer, fmt.Errorf("pictures: a source of the kind %T has no files: %w", s, errors.ErrUnsupported)
	}
	return files.ReadEncoded(ctx, bag, frame, buffer)
}

// Vectors gives the feature vectors of the frames of bags, in place of pictures. It must be safe for
// concurrent use.
type Vectors interface {
	// Frames is the number of frames of bag i, at least 1.
	Frames(bag int) int
	// Width is D, the length of all vectors.
	Width() int
	// Read copies the vector of a frame into dst, of D elements. NaN stands for a missing value. A vector
	// that cannot be used gives an error that wraps ErrCorrupt and names file, row and column.
	Read(ctx context.Context, bag, frame int, dst []float32) error
}

// Set is one split of a data set: N bags over K classes, their labels, and where their pixels or
// features are.
// Matrices are host arrays of uint8, row-major. A Set is not changed once built, except that
// noise replaces Labels by a new matrix in a copy of the Set.
type Set struct {
	Name       string // for messages and file names, for example "scenes-train"
	Vocabulary *text.Vocabulary
	IDs        []string     // N, unique within the set
	Labels     *dense.Dense // N×K of 0, 1 or UnknownLabel: the observed labels z, possibly noisy
	Truth      *dense.Dense // N×K of 0 or 1: the true labels y if known, else nil
	Counts     *dense.Dense // N×K: number of captions of the bag that mention the word (c of the evaluation), else nil
	// Weights multiply the loss of each bag in training, and no measure: finite numbers of at least 0. Nil for none.
	Weights []float32
	// CaptionsPerSample is the number of captions from which Counts come (5 for COCO and scenes, 20 for
	// MSR-VTT), 0 if there are none.
	CaptionsPerSample int
	// Captions holds, per bag and caption, the sorted class indices that the caption mentions;
	// nil where labels do not come from captions. Noise by caption replacement reads it.
	Captions [][][]int32
	// CaptionsInUse is Captions with captions of other bags in the places of replaced ones: those that Labels come from.
	// Nil where Labels come from elsewhere: flipped, true, or of captions that are not in memory.
	CaptionsInUse [][][]int32
	// Rows replaces IDs, Labels and Counts if the set is too large to hold them; these are then nil, as are
	// Truth, Captions and Said.
	Rows Rows
	// ByBlocks is set if the order of an epoch is computed, by Config.Block and Window, and not listed, as
	// for sets whose files are large.
	ByBlocks bool
	// Source has the pictures of the bags, or Vectors their features; the other is nil.
	Source   Source
	Vectors  Vectors
	Columns  []string // the names of the columns that Vectors are from; nil if they have none
	Pictures Source   // the pictures from which Vectors were computed, for display; nil for none
	// ByFrame is set if nets process each frame alone, and the scores of a bag are the maxima over its
	// frames. A net that was trained on Frames scores videos in this way.
	ByFrame bool
	// Standard is the scaling of the training split's features, for nets that learn from standardised
	// features; nil for none.
	Standard *Standard

	survey *survey // for a set with Rows
}

// frames is the number of frames of a bag.
func (s *Set) frames(bag int) int {
	if s.Vectors != nil {
		return s.Vectors.Frames(bag)
	}
	return s.Source.Frames(bag)
}

// Preview returns the pictures of the bags to show: the Source, or the pictures that features were computed from; nil
// for none.
func (s *Set) Preview() Source { return cmp.Or(s.Source, s.Pictures) }

// Videos reports whether any bag has more than one frame.
func (s *Set) Videos() bool {
	for bag := range s.Len() {
		if s.frames(bag) > 1 {
			return true
		}
	}
	return false
}

// Noun returns the noun for the bags of the set: pictures, clips or rows.
func (s *Set) Noun() text.Plural {
	switch {
	case s.Vectors != nil && s.Pictures == nil:
		return "rows"
	case s.Videos():
		return "clips"
	}
	return "pictures"
}

// LongestBag is the number of frames of the bag that has most.
func (s *Set) LongestBag() int {
	longest := 0
	for bag := range s.Len() {
		longest = max(longest, s.frames(bag))
	}
	return longest
}

// AllFrames is the number of frames of all bags.
func (s *Set) AllFrames() int {
	all := 0
	for bag := range s.Len() {
		all += s.frames(bag)
	}
	return all
}

// Len is the number of bags N.
func (s *Set) Len() int {
	if s.Rows != nil {
		return s.Rows.Len()
	}
	return len(s.IDs)
}
