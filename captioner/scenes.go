package captioner

import (
	"errors"
	"os"
	"path/filepath"

	"nmn/captioner/metrics"
	"nmn/eval"
	"nmn/internal/durable"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/loader/scenes"
)

// Files of folders.
const (
	WordsFile    = "words.txt"     // the vocabulary of a captioner
	CaptionsFile = "captions.json" // of WriteScenes: captions as an object of lists
)

// SceneCaptions returns perClip sentences for each clip of a split of the embedded moving scenes.
func SceneCaptions(config scenes.MovingConfig, perClip int) (*metrics.Captions, error) {
	ids, captions, err := scenes.MovingCaptions(config, perClip)
	if err != nil {
		return nil, err
	}
	c := &metrics.Captions{IDs: ids, Of: make(map[string][]string, len(ids))}
	for i, id := range ids {
		c.Of[id] = captions[i]
	}
	return c, nil
}

// WriteScenes writes a split of the moving scenes to a folder, which it makes: captions.json, truth.npy with
// the content of each frame, and truth.csv with the rows of each clip. captions come from SceneCaptions.
func WriteScenes(dir string, config scenes.MovingConfig, captions *metrics.Captions) error {
	if err := WriteSceneTruth(filepath.Join(dir, "truth"), config, captions.IDs); err != nil {
		return err
	}
	return durable.SaveJSON(filepath.Join(dir, CaptionsFile), captions.Of)
}

// WriteSceneTruth writes the content of every frame of a split, a row of 0 and 1, to base.npy, and the rows
// of each clip to base.csv. It makes the folder. ids are the ids of the clips.
func WriteSceneTruth(base string, config scenes.MovingConfig, ids []string) error {
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return err
	}
	if err := writeFrameTruth(base+".npy", config); err != nil {
		return err
	}
	return WriteClips(base+".csv", ids, config.Frames)
}

// WriteClips writes the table of the rows of each clip, for clips with equal numbers of rows.
func WriteClips(path string, ids []string, rows int) error {
	var table dataset.ClipTable
	for i, id := range ids {
		table.Add(id, i*rows, rows)
	}
	return table.WriteFile(path)
}

func writeFrameTruth(path string, config scenes.MovingConfig) (err error) {
	vocabulary, err := scenes.Vocabulary()
	if err != nil {
		return err
	}
	w, err := features.Create(path, vocabulary.Len())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	row := make([]float32, vocabulary.Len())
	for clip := range config.N {
		shown, err := scenes.FrameTruth(config, clip)
		if err != nil {
			return err
		}
		truth, frames, classes, err := eval.Uint8Matrix(shown)
		if err != nil {
			return err
		}
		for t := range frames {
			for k, y := range truth[t*classes : (t+1)*classes] {
				row[k] = float32(y)
			}
			if err := w.Write(row); err != nil {
				return err
			}
		}
	}
	return w.Commit()
}
