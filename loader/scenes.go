package loader

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"nmn/rng"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// Sizes of the scenes data set.
const (
	SceneSize        = 48 // width and height of a picture, pixels
	SceneCaptions    = 5  // captions per picture
	maxScenes        = 10_000_000
	scenePictureSize = SceneSize * SceneSize * 3 // bytes of RGB
)

// ScenesConfig chooses a split of the scenes data set. Picture i depends on (Seed, Split, i) alone:
// a larger N adds pictures behind and changes none.
type ScenesConfig struct {
	Seed  uint64
	Split string // any name; "train", "val" and "test" of one seed share no picture
	N     int    // pictures, 1 to 10,000,000
	// Cache keeps every picture in memory once it has been painted: 6,912 bytes each, 110 MB for
	// 16,000. Without it a picture is painted each time it is read.
	Cache bool
}

// DefaultScenesConfig is the full training split: 16,000 pictures, cached.
func DefaultScenesConfig() ScenesConfig {
	return ScenesConfig{Seed: 1, Split: "train", N: 16000, Cache: true}
}

// Validate says which field is out of range.
func (c ScenesConfig) Validate() error {
	if c.Split == "" {
		return fmt.Errorf("scenes: Split is empty; give it a name, for example train")
	}
	if c.N < 1 || c.N > maxScenes {
		return fmt.Errorf("scenes: N = %d, allowed are 1 to %d", c.N, maxScenes)
	}
	return nil
}

// Scenes makes a split of the embedded data set: small pictures of coloured shapes, five captions
// each that leave things out the way people do, and the labels that are really true.
//
// Labels z holds the words that any of the five captions mentions, without injected noise; Truth y
// holds what the picture shows; Counts holds how many of the captions mention the word. Pictures
// are painted when they are read. The result does not depend on the number of processors.
func Scenes(config ScenesConfig) (*Set, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	vocabulary, err := SceneVocabulary()
	if err != nil {
		return nil, err
	}
	n := config.N
	labels, truth, counts := make([]uint8, n*sceneClasses), make([]uint8, n*sceneClasses), make([]uint8, n*sceneClasses)
	set := &Set{
		Name:           "scenes-" + config.Split,
		Vocabulary:     vocabulary,
		IDs:            make([]string, n),
		Labels:         dense.New(dense.WithShape(n, sceneClasses), dense.WithBacking(labels)),
		Truth:          dense.New(dense.WithShape(n, sceneClasses), dense.WithBacking(truth)),
		Counts:         dense.New(dense.WithShape(n, sceneClasses), dense.WithBacking(counts)),
		CaptionsPerBag: SceneCaptions,
		Captions:       make([][][]int32, n),
		Source:         newSceneSource(config),
	}
	streams := newSceneStreams(config)
	inParallel(n, func(i int) {
		scene := streams.scene(i)
		row := i * sceneClasses
		scene.truth(truth[row : row+sceneClasses])
		set.IDs[i] = streams.id(i)
		set.Captions[i] = countWords(streams.captions(i, &scene), labels[row:row+sceneClasses], counts[row:row+sceneClasses])
	})
	return set, nil
}

// countWords turns the captions of a picture into their sorted classes, the labels and the counts.
func countWords(captions [SceneCaptions]sceneCaption, labels, counts []uint8) [][]int32 {
	words := make([]int32, 0, 8*SceneCaptions) // one array for all five
	sets := make([][]int32, SceneCaptions)
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

// inParallel calls f for 0 to n-1, each once, from as many goroutines as there are processors. It
// hands out short runs of indices, and f must write to places of its own.
func inParallel(n int, f func(i int)) {
	const run = 64
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+run-1)/run) {
		wait.Go(func() {
			for {
				start := int(next.Add(run)) - run
				if start >= n {
					return
				}
				for i := start; i < min(start+run, n); i++ {
					f(i)
				}
			}
		})
	}
	wait.Wait()
}

// sceneStreams knows the random streams of a split. What is drawn for the layout, the captions and
// the pixels of a picture come from streams of their own, so that each can be made alone.
type sceneStreams struct {
	split                    string
	layout, caption, texture uint64
}

func newSceneStreams(config ScenesConfig) sceneStreams {
	purpose := "scenes/" + config.Split + "/"
	return sceneStreams{
		split:   config.Split,
		layout:  rng.Derive(config.Seed, purpose+"layout"),
		caption: rng.Derive(config.Seed, purpose+"captions"),
		texture: rng.Derive(config.Seed, purpose+"pixels"),
	}
}

func (s *sceneStreams) id(i int) string { return fmt.Sprintf("scenes-%s-%06d", s.split, i) }

func (s *sceneStreams) scene(i int) scene {
	stream := rng.New(s.layout, i)
	return drawScene(&stream)
}

func (s *sceneStreams) captions(i int, scene *scene) (captions [SceneCaptions]sceneCaption) {
	stream := rng.New(s.caption, i)
	for c := range captions {
		captions[c] = scene.describe(&stream)
	}
	return captions
}

// sceneSource paints pictures on demand.
type sceneSource struct {
	streams  sceneStreams
	n        int
	painters sync.Pool
	cache    []atomic.Pointer[[scenePictureSize]uint8] // empty when pictures are not kept
}

func newSceneSource(config ScenesConfig) *sceneSource {
	s := &sceneSource{streams: newSceneStreams(config), n: config.N}
	s.painters.New = func() any { return new(scenePainter) }
	if config.Cache {
		s.cache = make([]atomic.Pointer[[scenePictureSize]uint8], config.N)
	}
	return s
}

// Frames is 1: scenes are still pictures.
func (s *sceneSource) Frames(int) int { return 1 }

// Read paints picture bag, or copies it when it has been painted before and is kept.
func (s *sceneSource) Read(ctx context.Context, bag, frame int, pic *Picture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if bag < 0 || bag >= s.n || frame != 0 {
		return fmt.Errorf("scenes: there is no frame %d of picture %d among %d pictures of one frame", frame, bag, s.n)
	}
	pic.resize(SceneSize, SceneSize)
	if len(s.cache) == 0 {
		s.paint(bag, (*[scenePictureSize]uint8)(pic.Pix))
		return nil
	}
	kept := s.cache[bag].Load()
	if kept == nil { // two readers may both paint it, and paint the same
		kept = new([scenePictureSize]uint8)
		s.paint(bag, kept)
		s.cache[bag].Store(kept)
	}
	copy(pic.Pix, kept[:])
	return nil
}

func (s *sceneSource) paint(i int, pixels *[scenePictureSize]uint8) {
	painter := s.painters.Get().(*scenePainter)
	scene := s.streams.scene(i)
	stream := rng.New(s.streams.texture, i)
	painter.paint(&scene, &stream, pixels)
	s.painters.Put(painter)
}

// SceneVocabulary returns the 36 words of the scenes data set, in class order.
func SceneVocabulary() (*text.Vocabulary, error) {
	words := make([]text.Word, sceneClasses)
	for k, word := range sceneWords {
		words[k] = text.Word{Text: word, POS: scenePOS(int32(k))}
	}
	return text.NewVocabulary(words)
}
