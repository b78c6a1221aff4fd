package scenes

import (
	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// drawMain draws a picture with a main object, the last one, in front of the others.
func drawMain(s *rng.Stream) scene {
	scene := layOut(s)
	for i := range scene.count {
		o := &scene.objects[i]
		size := 0
		if o.size = wordSmall; i == scene.count-1 {
			size, o.size = len(sizes)-1, wordLarge
		}
		o.radius = onGrid(s.Uniform(radiusFrom[size], radiusTo[size]))
		near, far := .8*o.radius, pictureSize-.8*o.radius
		o.x, o.y = onGrid(min(max(o.x, near), far)), onGrid(min(max(o.y, near), far))
		o.dropVerb()
	}
	scene.reveal()
	return scene
}

func (s *scene) mainObject() *sceneObject { return &s.objects[s.count-1] }

// makeMain makes a split whose pictures have one label each.
func makeMain(config Config) (*loader.Set, error) {
	words := make([]text.Word, shapeCount)
	for shape := range words {
		words[shape] = text.Word{Text: sceneWords[shape], POS: text.Others}
	}
	vocabulary, err := text.NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	labels := make([]uint8, config.N*shapeCount)
	ids, streams := make([]string, config.N), newSceneStreams(config)
	parallel.Each(config.N, func(i int) {
		scene := streams.scene(i)
		labels[i*shapeCount+int(scene.mainObject().shape)] = 1
		ids[i] = streams.id(i)
	})
	matrix := func() *dense.Dense { return loader.Matrix(labels, shapeCount) }
	return &loader.Set{Name: "scenes-classes-" + config.Split, Vocabulary: vocabulary, IDs: ids, Labels: matrix(),
		Truth: matrix(), Source: mainPictures{newScenePictures(config), streams}}, nil
}

// mainPictures are pictures with a main object.
type mainPictures struct {
	*paintedSource
	streams sceneStreams
}

// Near sets how near a picture is to each shape: the pixels of its small objects of that shape, 0 for the shape of the
// main object. Label noise that depends on the picture reads it.
func (p mainPictures) Near(bag int, near []float64) {
	scene := p.streams.scene(bag)
	clear(near)
	for i := range scene.count {
		near[scene.objects[i].shape] += float64(scene.objects[i].visible)
	}
	near[scene.mainObject().shape] = 0
}
