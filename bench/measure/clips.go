package measure

import (
	"fmt"

	"nmn/captioner"
	"nmn/captioner/s2vt"
	"nmn/internal/rng"
)

// captionLengths are the middles of 32 equal shares of the captions of MSR-VTT's training clips, in words
// without the end: 9.3 in the mean. bench/s2vt_torch.py has the same.
var captionLengths = []int{
	4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 13, 13, 14, 16, 18, 22,
}

func numberedWords(ids int) (*captioner.Words, error) {
	words := make([]string, max(1, ids-int(captioner.Unknown)-1))
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	return captioner.NewWords(words, nil)
}

// randomClips are clips without any meaning, with a caption each.
type randomClips struct {
	config   s2vt.Config
	features []float32 // of one clip: all have the same
	captions [][]int32
}

func newRandomClips(c s2vt.Config, count int) *randomClips {
	stream, s := rng.New(1), &randomClips{config: c, features: make([]float32, c.Frames*c.Features)}
	for i := range s.features {
		s.features[i] = float32(stream.Float64())
	}
	for i := range count {
		words := make([]int32, captionLengths[i%len(captionLengths)])
		for j := range words {
			words[j] = s2vt.Reserved + int32(stream.Intn(c.Vocabulary-s2vt.Reserved))
		}
		s.captions = append(s.captions, words)
	}
	return s
}

// Clips, ID, Frames, FrameCount, Width, Features and Captions implement captioner.Source.
func (s *randomClips) Clips() int                  { return len(s.captions) }
func (s *randomClips) ID(clip int) string          { return fmt.Sprint("clip", clip) }
func (s *randomClips) Frames() int                 { return s.config.Frames }
func (s *randomClips) FrameCount(int) int          { return s.config.Frames }
func (s *randomClips) Width() int                  { return s.config.Features }
func (s *randomClips) Captions(clip int) [][]int32 { return s.captions[clip : clip+1] }

func (s *randomClips) Features(_ int, dst []float32) error {
	copy(dst, s.features)
	return nil
}
