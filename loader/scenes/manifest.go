package scenes

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/rng"
)

// manifestName is the manifest of a folder of pictures, in which some labels are wrong.
const manifestName = "pictures.csv"

// WriteManifest writes, next to the pictures of Write, a manifest with a row for each of them: its
// path, its labels, some of them wrong, and its true labels. A label that holds goes missing with the first
// probability, and one that does not hold is set with the second, drawn from the seed of the scenes.
func WriteManifest(ctx context.Context, config Config, missing, incorrect float64, folder string) (string, error) {
	for _, p := range []float64{missing, incorrect} {
		if !(p >= 0 && p <= 1) {
			return "", fmt.Errorf("scenes: a label is wrong with probability %g, want 0 to 1", p)
		}
	}
	set, err := Make(config)
	if err != nil {
		return "", err
	}
	names, k, truth := set.Vocabulary.Texts(), set.Vocabulary.Len(), set.Truth.Uint8s()
	key := rng.Derive(config.Seed, "scenes/manifest/"+config.Split)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"path", "labels", "truth"}) // a buffer cannot fail
	for bag := range set.Len() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		draw := rng.New(key, bag)
		var given, hold []string
		for c, name := range names {
			y := truth[bag*k+c] == 1
			p := incorrect
			if y {
				p, hold = missing, append(hold, name)
			}
			if wrong := draw.Float64() < p; y != wrong {
				given = append(given, name)
			}
		}
		row := []string{"images/" + FileName(config.Split, bag), strings.Join(given, ";"), strings.Join(hold, ";")}
		if len(hold) == 0 {
			row[2] = "-"
		}
		_ = w.Write(row)
	}
	w.Flush()
	path := filepath.Join(folder, manifestName)
	return path, durable.WriteFile(path, b.Bytes(), 0o666)
}
