package run

import (
	"nmn/loader/dataset"
	"nmn/run/folder"
)

// places are all of its files and folders. NoiseRates may be a word, and are compared as they are.
func (c *Config) places() folder.Places {
	d, f := &c.Data, &c.Data.Features
	all := folder.Places{
		"data.captions": &d.Captions, "data.images": &d.Images, "data.val_captions": &d.ValCaptions,
		"data.val_images": &d.ValImages, "data.validation_ids": &d.ValidationIDs, "data.test_ids": &d.TestIDs,
		"data.vocabulary": &d.Vocabulary, "data.msrvtt": &d.MSRVTT, "data.frames_dir": &d.FramesDir,
		"data.clips": &d.Clips, "data.val_clips": &d.ValClips, "data.test_clips": &d.TestClips,
		"data.clip_labels": &d.ClipLabels, "data.manifest": &d.Manifest, "data.evidence": &d.Evidence,
		"data.verified": &d.Verified, "data.noise_file": &d.NoiseFile, "data.flip_rates": &d.FlipRates,
		"data.features.ids":     &f.IDs,
		"data.features.weights": &f.Weights,
		"net.weights":           &c.Net.Weights, "net.backbone": &c.Net.Backbone, "stage1": &c.Stage1,
	}
	for name, files := range map[string]*dataset.FeatureFiles{"train": &f.Train, "validation": &f.Validation,
		"test": &f.Test} {
		key := "data.features." + name + "."
		all[key+"features"], all[key+"labels"], all[key+"truth"], all[key+"counts"] = &files.Features, &files.Labels,
			&files.Truth, &files.Counts
	}
	return all
}
