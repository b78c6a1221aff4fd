package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/loader/manifest"
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

type source struct {
	kind  Kind
	noun  string   // for messages
	needs []string // the settings without which there are no data; the first names the data
	open  func(*Splits, context.Context, *Config) error
}

func kinds() []source {
	return []source{
		{kind: Scenes, noun: "the built-in scenes", open: (*Splits).openScenes},
		{kind: MovingScenes, noun: "the built-in moving scenes", open: (*Splits).openScenes},
		{kind: Captions, noun: "pictures with captions", needs: []string{"captions", "images"}, open: (*Splits).openCaptions},
		{kind: MSRVTT, noun: "the clips of MSR-VTT", needs: []string{"msrvtt", "frames_dir"}, open: (*Splits).openMSRVTT},
		{kind: Clips, noun: "clips with their labels", needs: []string{"clips"}, open: (*Splits).openClips},
		{kind: Features, noun: "features", needs: []string{"features.train.features"}, open: (*Splits).openFeatures},
		{kind: Manifest, noun: "manifests", needs: []string{"manifest"}, open: (*Splits).openManifest},
	}
}

// source is the kind with all that belongs to it; empty if there is no such kind.
func (k Kind) source() source {
	for _, s := range kinds() {
		if s.kind == k {
			return s
		}
	}
	return source{}
}

// check refuses a kind that does not exist.
func (k Kind) check() error {
	if k.source().open == nil {
		return setting.Errorf("data.set", "data.set is %q, want %s", k, setting.Alternatives(k.Values()))
	}
	return nil
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
func (d *Config) Captioned() bool {
	return d.Set != Manifest && (d.Set != Features || d.Features.Train.Captions != "")
}

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

// Validate names the first field that is out of range or lacks a setting that it requires.
func (d *Config) Validate() error {
	if err := cmp.Or(setting.Check("data.", d), d.Set.check()); err != nil {
		return err
	}
	for _, s := range setting.Describe(d) {
		if slices.Contains(d.Set.source().needs, s.Key) && s.Value == "" && !(d.Set == Manifest && d.Images != "") &&
			!(d.Set == Captions && folderOf(d.Captions) != "") {
			return setting.Errorf("data."+s.Key, "data.set is %s: give `data.%s` (%s)", d.Set, s.Key, s.Plain())
		}
	}
	captions := []manifest.Form{"", manifest.FormAuto, manifest.FormCaptions}
	if d.Set == Captions && !slices.Contains(captions, d.LabelForm) {
		return setting.Errorf("data.label_form", "data.label_form is %s, and %s has captions: leave it out", d.LabelForm,
			d.Captions)
	}
	return cmp.Or(d.checkScenes(), d.Features.Validate(), d.checkNoise(), d.checkShares())
}

// needs has settings that have no effect without another one.
var needs = map[string]string{"val_images": "val_captions",
	"features.validation.labels": "features.validation.features", "features.test.labels": "features.test.features",
	"features.validation.truth": "features.validation.features", "features.test.truth": "features.test.features",
	"features.validation.counts": "features.validation.features", "features.test.counts": "features.test.features",
	"features.validation.captions": "features.validation.features", "features.test.captions": "features.test.features"}

// ofCaptions are settings that features read if their labels come from captions.
var ofCaptions = []string{"vocabulary_size", "min_count", "keep_function_words"}

// because explains, after the list of kinds, why only those kinds read a setting.
var because = map[string]string{
	"images":     "which have the labels of the pictures, or a folder that has them: " + manifest.Tree,
	"val_images": "which have the labels of the pictures", "vocabulary": "whose labels are words",
	"frames_dir": "which has the labels of the clips", "features.train.labels": "whose rows they belong to",
	"features.train.truth": "whose rows it belongs to"}

// Unread refuses, as a *setting.Error, the first setting that the user has set and that data of this kind do
// not read. A setting counts as set if given reports its key, such as data.images, or if its value differs
// from base, the configuration before the user's choices.
func (d *Config) Unread(base *Config, given func(key string) bool) error {
	before, now := setting.Values(base), setting.Values(d)
	_, found := os.Stat(d.Images)
	empty := func(key string) bool { return reflect.ValueOf(now[key]).IsZero() }
	for _, s := range setting.Describe(d) {
		key := "data." + s.Key
		if !given(key) && same(s.Value, before[s.Key]) {
			continue
		}
		switch {
		case key == "data.images" && d.Embedded() && errors.Is(found, fs.ErrNotExist):
			return setting.Errorf(key, "`data.images`: folder %q does not exist", visible.Line(d.Images))
		case key == "data.images" && d.Embedded() && !given("data.set") && manifest.CheckLabelled(d.Images) != nil:
			return setting.Errorf(key, "%s: %w", visible.Line(d.Images), manifest.CheckLabelled(d.Images))
		case d.Set == Features && d.Captioned() && slices.Contains(ofCaptions, s.Key):
		case len(s.Of) > 0 && !slices.Contains(s.Of, string(d.Set)):
			return &setting.Error{Key: key, Reason: d.refusal(s.Key, s.Of)}
		case needs[s.Key] != "" && empty(needs[s.Key]) && !empty(s.Key):
			return setting.Errorf(key, "`%s` has no effect without `data.%s`: give it too", key, needs[s.Key])
		}
	}
	return nil
}

// same reports whether two values of a setting mean the same: an empty list is none.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Slice && x.Len()+y.Len() == 0 || reflect.DeepEqual(a, b)
}

// refusal returns an error: data of this kind do not read a setting, and which kinds do.
func (d *Config) refusal(key string, by []string) error {
	var would []string
	on := d.Noun()
	if !d.Embedded() {
		on += " (" + d.Set.choice() + ")"
	}
	for _, kind := range by {
		if Kind(kind).Key() == "data."+key { // another setting has chosen the kind over it
			return fmt.Errorf("`data.%s` has no effect on %s: data come from one source, leave out one of the two", key, on)
		}
		would = append(would, Kind(kind).choice())
	}
	cure := setting.Alternatives(would)
	if because[key] != "" {
		cure += ", " + because[key]
	}
	return fmt.Errorf("`data.%s` has no effect on %s: give %s; or leave it out", key, on, cure)
}
