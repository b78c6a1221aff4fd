package run

import (
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/loader/dataset"
)

// place is a setting that names a file or a folder. Where it lies is no part of what is learned: DataFile holds what is
// in it.
type place struct {
	key  string
	path *string
}

// places are all of them. Rates may be a word, and are compared as they are.
func (c *Config) places() []place {
	d, f := &c.Data, &c.Data.Features
	all := []place{
		{"data.captions", &d.Captions}, {"data.images", &d.Images}, {"data.val_captions", &d.ValCaptions},
		{"data.val_images", &d.ValImages}, {"data.validation_ids", &d.ValidationIDs}, {"data.test_ids", &d.TestIDs},
		{"data.vocabulary", &d.Vocabulary}, {"data.msrvtt", &d.MSRVTT}, {"data.frames_dir", &d.FramesDir},
		{"data.clips", &d.Clips}, {"data.val_clips", &d.ValClips}, {"data.test_clips", &d.TestClips},
		{"data.clip_labels", &d.ClipLabels}, {"data.manifest", &d.Manifest}, {"data.evidence", &d.Evidence},
		{"data.noise_file", &d.NoiseFile}, {"data.flip_rates", &d.FlipRates}, {"data.features.ids", &f.IDs},
		{"net.weights", &c.Net.Weights}, {"net.backbone", &c.Net.Backbone}, {"stage1", &c.Stage1},
	}
	for _, split := range []struct {
		name  string
		files *dataset.FeatureFiles
	}{{"train", &f.Train}, {"validation", &f.Validation}, {"test", &f.Test}} {
		key := "data.features." + split.name + "."
		all = append(all, place{key + "features", &split.files.Features}, place{key + "labels", &split.files.Labels},
			place{key + "truth", &split.files.Truth}, place{key + "counts", &split.files.Counts})
	}
	return all
}

// comeFrom resolves the relative paths of a run against the folder in which it was started, if the file exists there. So
// a run can be read from any folder. If the run lies below the working folder, files there take precedence: a copy of a
// project uses its own data.
func (c *Config) comeFrom(folder, dir string) {
	here, err := os.Getwd()
	if folder == "" || err != nil || here == folder {
		return
	}
	dir, err = filepath.Abs(dir)
	inside, _ := filepath.Rel(here, dir) // empty on another drive
	own := err == nil && filepath.IsLocal(inside)
	for _, p := range c.places() {
		if *p.path == "" || filepath.IsAbs(*p.path) || own && durable.Exists(*p.path) {
			continue
		}
		if there := filepath.Join(folder, *p.path); durable.Exists(there) {
			*p.path = there
		}
	}
}

// withoutPlaces leaves out of flat configurations where files lie, as far as both name one.
func withoutPlaces(c *Config, values ...map[string]string) {
	for _, p := range c.places() {
		named := true
		for _, v := range values {
			named = named && v[p.key] != ""
		}
		if !named {
			continue
		}
		for _, v := range values {
			v[p.key] = "named"
		}
	}
}

// keepPlaces notes in the configuration of a complete run where its files lie now.
func (c *Config) keepPlaces(dir string) error {
	there, err := ReadConfig(dir)
	if err != nil {
		return err
	}
	moved := false
	now := c.places()
	for i, p := range there.places() {
		moved = moved || *p.path != *now[i].path
		*p.path = *now[i].path
	}
	if !moved {
		return nil
	}
	return there.save(dir, *there.Build)
}
