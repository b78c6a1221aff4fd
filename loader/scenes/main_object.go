package scenes

import (
	"nmn/internal/parallel"
	"nmn/loader"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// mainObject is the object of which most pixels are visible, the first of equal ones.
func (s *scene) mainObject() *sceneObject {
	best := &s.objects[0]
	for i := range s.count {
		if o := &s.objects[i]; o.visible > best.visible {
			best = o
		}
	}
	return best
}

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
		Truth: matrix(), Source: newScenePictures(config)}, nil
}
