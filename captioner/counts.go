package captioner

import (
	"errors"
	"os"
	"path/filepath"

	"nmn/captioner/metrics"
	"nmn/internal/durable"
	"nmn/loader/features"
)

// Files of the folders that WriteCounts and WriteScenes make.
const (
	WordsFile    = "words.txt"     // the vocabulary, as in the folder of a captioner
	CaptionsFile = "captions.json" // captions as an object of lists
)

// WriteCounts writes features of captions alone to a folder, which it makes, to try a captioner without any clip:
// counts.npy has how often the given captions of each clip have each word, divided by their number, counts.csv the
// clips, captions.json the rest of their captions, to learn and to score by, and words.txt the words. The clips of
// both are the same ones in the same order, as FirstCaptions makes them.
func WriteCounts(dir string, given, rest *metrics.Captions, words *Words) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := words.WriteFile(filepath.Join(dir, WordsFile)); err != nil {
		return err
	}
	if err := writeCounts(filepath.Join(dir, "counts.npy"), given, words); err != nil {
		return err
	}
	if err := WriteClips(filepath.Join(dir, "counts.csv"), rest.IDs, 1); err != nil {
		return err
	}
	return durable.SaveJSON(filepath.Join(dir, CaptionsFile), rest.Of)
}

func writeCounts(path string, given *metrics.Captions, words *Words) (err error) {
	w, err := features.Create(path, words.AtLeast(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	row := make([]float32, words.AtLeast(0))
	for _, id := range given.IDs {
		clear(row)
		for _, text := range given.Of[id] {
			for _, word := range words.Append(nil, Tokens(text)) {
				if word >= firstWord {
					row[word-firstWord] += 1 / float32(len(given.Of[id]))
				}
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Commit()
}
