package dataset

import (
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/loader/manifest"
)

// refusePacked refuses labels that look like lists in one string each, unless the user has named the classes
// or wants to inspect the labels as they are. where returns the location of the first list.
func refusePacked(c *Config, labels []string, alone bool, where func(label string) string) error {
	if c.Vocabulary != "" || c.PackedLabels {
		return nil
	}
	p, found := loader.FindPacked(labels, alone)
	if !found {
		return nil
	}
	return fmt.Errorf("%s: the label %s: %s; %s", where(p.Example), p, p.Cure(), p.Names())
}

// refusePackedManifest is refusePacked for the labels of a manifest.
func refusePackedManifest(c *Config, m *manifest.Manifest) error {
	if namesLabels(c, m) {
		return nil
	}
	alone := !slices.ContainsFunc(m.Rows, func(r manifest.Row) bool { return len(r.Labels) > 1 })
	return refusePacked(c, m.Labels, alone, m.Where)
}

// refusePackedFeatures is refusePacked for the labels of feature files.
func refusePackedFeatures(c *Config, whole *loader.Set) error {
	words := whole.Vocabulary.Texts()
	return refusePacked(c, words, loader.OneEach(whole.Labels), func(label string) string {
		values, k, class := whole.Labels.Uint8s(), len(words), slices.Index(words, label)
		for row, id := range whole.IDs {
			if values[row*k+class] == 1 {
				return fmt.Sprintf("%s, row %d (%s)", c.Features.Train.Features, row+1, id)
			}
		}
		return c.Features.Train.Features
	})
}
