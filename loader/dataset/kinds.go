package dataset

import (
	"context"
	"slices"

	"nmn/text"
)

// Kind is where data come from.
type Kind string

// The kinds of data.
const (
	Scenes       Kind = "scenes"        // pictures that are made up, with captions; they need no files
	MovingScenes Kind = "moving-scenes" // clips of such
	Captions     Kind = "captions"      // pictures with the captions of COCO
	MSRVTT       Kind = "msrvtt"        // frames of videos with the captions of MSR-VTT
	Clips        Kind = "clips"         // frames of videos in shards, with labels next to them
	Features     Kind = "features"      // vectors with labels
	Manifest     Kind = "manifest"      // a list of pictures or clips, with labels by name
)

// source is a kind of data.
type source struct {
	kind  Kind
	noun  string   // for messages
	needs []string // the settings without which there are no data; the first names the data
	open  func(*Splits, context.Context, *Config) error
}

// kinds lists all kinds.
func kinds() []source {
	return []source{
		{Scenes, "the built-in scenes", nil, (*Splits).openScenes},
		{MovingScenes, "the built-in moving scenes", nil, (*Splits).openScenes},
		{Captions, "pictures with captions", []string{"captions", "images"}, (*Splits).openCaptions},
		{MSRVTT, "the clips of MSR-VTT", []string{"msrvtt", "frames_dir"}, (*Splits).openMSRVTT},
		{Clips, "clips with their labels", []string{"clips"}, (*Splits).openClips},
		{Features, "features", []string{"features.train.features"}, (*Splits).openFeatures},
		{Manifest, "manifests", []string{"manifest"}, (*Splits).openManifest},
	}
}

// source is the kind with all that belongs to it. The kind must be one of the constants.
func (k Kind) source() source {
	all := kinds()
	return all[slices.IndexFunc(all, func(s source) bool { return s.kind == k })]
}

// Key is the setting that names data of the kind, such as data.captions; empty for scenes, which need no files.
func (k Kind) Key() string {
	if needs := k.source().needs; needs != nil {
		return "data." + needs[0]
	}
	return ""
}

// choice is what chooses the kind, for messages.
func (k Kind) choice() string {
	if key := k.Key(); key != "" {
		return "`" + key + "`"
	}
	return "`data.set` " + string(k)
}

// Values lists all kinds.
func (Kind) Values() (names []string) {
	for _, s := range kinds() {
		names = append(names, string(s.kind))
	}
	return names
}

// Embedded reports whether the data are made, not read.
func (d *Config) Embedded() bool { return d.Set == Scenes || d.Set == MovingScenes }

// Decodes reports whether pictures or frames are decoded from files.
func (d *Config) Decodes() bool { return !d.Embedded() && d.Set != Features }

// Captioned reports whether labels come from captions, which noise may replace.
func (d *Config) Captioned() bool { return d.Set != Features && d.Set != Manifest }

// Noun names the data, for messages.
func (d *Config) Noun() string { return d.Set.source().noun }

// Samples returns the noun for labelled items: pictures, clips or rows.
func (d *Config) Samples() text.Plural {
	switch {
	case d.Videos():
		return "clips"
	case d.Set == Features:
		return "rows"
	}
	return "pictures"
}

// Videos reports whether bags have several frames.
func (d *Config) Videos() bool {
	return d.Set == MovingScenes || d.Set == MSRVTT || d.Set == Clips || d.ManifestOfClips
}
