package scenes

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	dense "gorgonia.org/tensor"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// Sizes of the scenes data set.
const (
	pictureSize        = 48 // width and height of a picture, pixels
	CaptionsPerPicture = 5  // captions per picture
	maxScenes          = 10_000_000
	pictureBytes       = pictureSize * pictureSize * 3 // bytes of RGB
)

// Config chooses a split of the scenes data set. Picture i depends on (Seed, Split, i) alone:
// a larger N adds pictures at the end and changes none.
type Config struct {
	Seed  uint64
	Split string // any name; "train", "val" and "test" of one seed share no picture
	N     int    // pictures, 1 to 10,000,000
	// Cache keeps every picture in memory once it has been painted: 6,912 bytes each, 110 MB for
	// 16,000. Without it a picture is painted each time it is read.
	Cache bool
	// MainObject gives each picture one label: the shape of its main object, which is large, while the others
	// are small. There are then eight classes and no captions.
	MainObject bool
}

// Validate returns which field is out of range.
func (c Config) Validate() error {
	if c.Split == "" {
		return fmt.Errorf("scenes: Split is empty; give it a name, for example train")
	}
	if c.N < 1 || c.N > maxScenes {
		return fmt.Errorf("scenes: N = %d, allowed are 1 to %d", c.N, maxScenes)
	}
	return nil
}

// Make makes a split of the embedded data set: small pictures of coloured shapes, five captions each that
// leave out words as human annotators do, and the true labels.
//
// Labels z holds the words that any of the five captions mentions, without injected noise; Truth y holds the
// true content of the picture; Counts holds the number of captions that mention the word. Pictures are
// painted when they are read. The result does not depend on the number of processors.
func Make(config Config) (*loader.Set, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.MainObject {
		return makeMain(config)
	}
	set, err := blankScenes("scenes-"+config.Split, config.N, newScenePictures(config))
	if err != nil {
		return nil, err
	}
	labels, truth, counts := set.Labels.Uint8s(), set.Truth.Uint8s(), set.Counts.Uint8s()
	streams := newSceneStreams(config)
	parallel.Each(config.N, func(i int) {
		scene := streams.scene(i)
		row := i * classCount
		scene.truth(truth[row : row+classCount])
		set.IDs[i] = streams.id(i)
		set.Captions[i] = countWords(streams.captions(i, &scene), labels[row:row+classCount], counts[row:row+classCount])
	})
	return set, nil
}

// blankScenes is a set of n bags over the words of the scenes, whose identifiers, labels and captions are to
// be filled in.
func blankScenes(name string, n int, source loader.Source) (*loader.Set, error) {
	vocabulary, err := Vocabulary()
	if err != nil {
		return nil, err
	}
	blank := func() *dense.Dense { return loader.Matrix(make([]uint8, n*classCount), classCount) }
	captions := make([][][]int32, n)
	return &loader.Set{
		Name:              name,
		Vocabulary:        vocabulary,
		IDs:               make([]string, n),
		Labels:            blank(),
		Truth:             blank(),
		Counts:            blank(),
		CaptionsPerSample: CaptionsPerPicture,
		Captions:          captions,
		CaptionsInUse:     captions,
		Source:            source,
	}, nil
}

// countWords turns the captions of a picture into their sorted classes, the labels and the counts.
func countWords(captions [CaptionsPerPicture]sceneCaption, labels, counts []uint8) [][]int32 {
	words := make([]int32, 0, 8*CaptionsPerPicture) // one array for all five
	sets := make([][]int32, CaptionsPerPicture)
	for c := range captions {
		start := len(words)
		words = captions[c].appendWords(words)
		sets[c] = words[start:len(words):len(words)]
		for _, k := range sets[c] {
			labels[k] = 1
			counts[k]++
		}
	}
	return sets
}

// sceneStreams holds the random streams of a split. The layout, the captions and the pixels of a picture have
// separate streams, so that each can be made alone.
type sceneStreams struct {
	split                    string
	layout, caption, texture uint64
	main                     bool // Config.MainObject
}

func newSceneStreams(config Config) sceneStreams {
	purpose := "scenes/" + config.Split + "/"
	return sceneStreams{
		split:   config.Split,
		layout:  rng.Derive(config.Seed, purpose+"layout"),
		caption: rng.Derive(config.Seed, purpose+"captions"),
		texture: rng.Derive(config.Seed, purpose+"pixels"),
		main:    config.MainObject,
	}
}

// newScenePictures paints the pictures of a split.
func newScenePictures(config Config) *paintedSource {
	streams := newSceneStreams(config)
	return newPaintedSource(config.N, 1, config.Cache, func(p *painter, i, _ int, pixels *[pictureBytes]uint8) {
		scene, stream := streams.scene(i), rng.New(streams.texture, i)
		p.paint(&scene, &stream, pixels)
	})
}

func (s *sceneStreams) id(i int) string { return fmt.Sprintf("scenes-%s-%06d", s.split, i) }

func (s *sceneStreams) scene(i int) scene {
	stream := rng.New(s.layout, i)
	if s.main {
		return drawMain(&stream)
	}
	return drawScene(&stream)
}

func (s *sceneStreams) captions(i int, scene *scene) (captions [CaptionsPerPicture]sceneCaption) {
	stream := rng.New(s.caption, i)
	for c := range captions {
		captions[c] = scene.describe(&stream)
	}
	return captions
}

// Vocabulary returns the 36 words of the scenes data set, in class order.
func Vocabulary() (*text.Vocabulary, error) {
	words := make([]text.Word, classCount)
	for k, word := range sceneWords {
		words[k] = text.Word{Text: word, POS: partOfSpeech(int32(k))}
	}
	return text.NewVocabulary(words)
}

// paintedSource paints pictures on demand: n bags of as many frames each.
type paintedSource struct {
	n, frames int
	paint     paintFunc
	painters  sync.Pool
	cache     []atomic.Pointer[[pictureBytes]uint8] // pixels of all frames; empty when pictures are not kept
}

// paintFunc paints a frame of a bag.
type paintFunc func(painter *painter, bag, frame int, pixels *[pictureBytes]uint8)

func newPaintedSource(n, frames int, keep bool, paint paintFunc) *paintedSource {
	s := &paintedSource{n: n, frames: frames, paint: paint}
	s.painters.New = func() any { return new(painter) }
	if keep {
		s.cache = make([]atomic.Pointer[[pictureBytes]uint8], n*frames)
	}
	return s
}

// Frames implements Source.
func (s *paintedSource) Frames(int) int { return s.frames }

// Read paints a frame, or copies it when it has been painted before and is kept.
func (s *paintedSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if bag < 0 || bag >= s.n || frame < 0 || frame >= s.frames {
		return fmt.Errorf("scenes: there is no frame %d of sample %d among %d samples with a frame count of %d",
			frame, bag, s.n, s.frames)
	}
	pic.Resize(pictureSize, pictureSize)
	if len(s.cache) == 0 {
		s.fill(bag, frame, (*[pictureBytes]uint8)(pic.Pix))
		return nil
	}
	at := &s.cache[bag*s.frames+frame]
	kept := at.Load()
	if kept == nil { // two readers may both paint it, and paint the same
		kept = new([pictureBytes]uint8)
		s.fill(bag, frame, kept)
		at.Store(kept)
	}
	copy(pic.Pix, kept[:])
	return nil
}

func (s *paintedSource) fill(bag, frame int, pixels *[pictureBytes]uint8) {
	painter := s.painters.Get().(*painter)
	s.paint(painter, bag, frame, pixels)
	s.painters.Put(painter)
}
