package measure

import (
	"context"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/text"
)

// randomSet has bags of frames of pictures without any meaning, with one label in fifty.
func randomSet(c model.Config, bags, frames int) (*loader.Set, error) {
	words := make([]text.Word, c.Classes)
	for k := range words {
		words[k].Text = fmt.Sprint("class", k)
	}
	vocabulary, err := text.NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	stream := rng.New(1)
	labels := make([]uint8, bags*c.Classes)
	for i := range labels {
		if stream.Uniform(0, 1) < .02 {
			labels[i] = 1
		}
	}
	ids := make([]string, bags)
	for i := range ids {
		ids[i] = fmt.Sprint("bag", i)
	}
	return &loader.Set{
		Name: "random", Vocabulary: vocabulary, IDs: ids, Source: newRandomPictures(c.Size, frames),
		Labels: dense.New(dense.WithShape(bags, c.Classes), dense.WithBacking(labels)),
	}, nil
}

// randomPictures is a source that costs next to nothing: all pictures are parts of the same noise.
type randomPictures struct {
	size, frames int
	noise        []uint8 // somewhat longer than a picture
}

func newRandomPictures(size, frames int) *randomPictures {
	const more = 4096
	s := &randomPictures{size: size, frames: frames, noise: make([]uint8, size*size*3+more)}
	stream := rng.New(2)
	for i := range s.noise {
		s.noise[i] = uint8(stream.Uint32())
	}
	return s
}

// Frames implements loader.Source.
func (s *randomPictures) Frames(int) int { return s.frames }

// Read implements loader.Source.
func (s *randomPictures) Read(_ context.Context, bag, frame int, pic *picture.Picture) error {
	bytes := s.size * s.size * 3
	from := (bag*s.frames + frame) * 61 % (len(s.noise) - bytes)
	pic.Width, pic.Height = s.size, s.size
	pic.Pix = append(pic.Pix[:0], s.noise[from:from+bytes]...)
	return nil
}
