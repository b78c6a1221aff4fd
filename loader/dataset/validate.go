package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/loader/manifest"
)

// ConfigError is a setting that is out of range, or conflicts with other settings or the data: a mistake of
// the caller, not a failure. Field is the key of the setting in a configuration file, such as data.noise. It
// is empty if several settings are at fault.
type ConfigError = setting.Error

// Validate names the first field that is out of range.
func (f *FeatureConfig) Validate() error {
	switch {
	case f.Train.Features == "":
		return fmt.Errorf("data.set is features: name the file of features (`data.features.train.features` FILE)")
	case f.Missing == MissingMean && !f.Standardise:
		return fmt.Errorf("data.features.missing_values is mean, which needs data.features.standardise: the mean is that " +
			"of the standard")
	}
	return nil
}

// Validate names the first field that is out of range or lacks a setting that it requires.
func (d *Config) Validate() error {
	if err := setting.Check("data.", d); err != nil {
		return err
	}
	if d.Embedded() && (d.TrainSize == 0 || d.TestSize == 0) {
		return setting.Errorf("data.train_size", "data.train_size is %d and data.test_size %d, want at least 1", d.TrainSize,
			d.TestSize)
	}
	switch {
	case d.Set == "":
		return setting.Errorf("data.set", "data.set is empty, want %s", setting.Alternatives(kinds()))
	case d.Set == Manifest && d.ManifestPath() == "":
		return fmt.Errorf("data.set is manifest: name the list of pictures (`data.manifest` FILE), or the folder of " +
			"pictures by label (`data.images` DIR)")
	case d.Classes == Exclusive && d.Set == MovingScenes:
		return setting.Errorf("data.classes", "`data.classes` is exclusive, and moving scenes have no main object: give "+
			"`data.set` scenes")
	case d.NoiseKind.Relabels() && d.Embedded() && d.Classes != Exclusive:
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces the one label of a picture: give "+
			"`data.classes` exclusive too", d.NoiseKind)
	case d.relabels() && !d.NoiseKind.Relabels() && d.NoiseKind != "":
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which scenes with one label do "+
			"not have: give symmetric or asymmetric", d.NoiseKind)
	case d.NoiseKind != "" && !d.NoiseKind.Relabels() && !d.Captioned():
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which %s do not have: give "+
			"symmetric or asymmetric", d.NoiseKind, d.Noun())
	case !d.Captioned() && d.Noise > 0 && !d.NoiseKind.Relabels():
		return fmt.Errorf("data.noise is %g: %s have no captions to replace; flip labels (`data.flips` 0.3:0.1) or give a "+
			"noise file",
			d.Noise, d.Noun())
	case (d.Noise > 0 || d.NoiseFile != "") && (d.Flips != "" || d.FlipRates != ""):
		return fmt.Errorf("data.noise and data.flips both inject noise: choose one")
	case d.Set == Captions && (d.Captions == "" || d.Images == ""):
		return fmt.Errorf("data.set is captions: name the file of captions (`data.captions` FILE) and the folder of " +
			"pictures (`data.images` DIR)")
	case d.Set == MSRVTT && (d.MSRVTT == "" || d.FramesDir == ""):
		return fmt.Errorf("data.set is msrvtt: name the file of annotations (`data.msrvtt` FILE) and the folder of frames " +
			"(`data.frames_dir` DIR)")
	case d.Set == Clips && d.Clips == "":
		return fmt.Errorf("data.set is clips: name the folder of the training clips (`data.clips` DIR)")
	case d.ValidationShare+d.TestShare >= 1:
		return fmt.Errorf("data.validation_share %g and data.test_share %g leave nothing to train on",
			d.ValidationShare, d.TestShare)
	}
	if _, _, err := d.Flips.Rates(); err != nil {
		return fmt.Errorf("data.%w", err)
	}
	if d.Set == Features {
		return d.Features.Validate()
	}
	return nil
}

// needs has settings that have no effect without another one.
var needs = map[string]string{"val_images": "val_captions",
	"features.validation.labels": "features.validation.features", "features.test.labels": "features.test.features",
	"features.validation.truth": "features.validation.features", "features.test.truth": "features.test.features",
	"features.validation.counts": "features.validation.features", "features.test.counts": "features.test.features"}

// because explains, after the list of kinds, why only those kinds read a setting.
var because = map[string]string{
	"images":     "which have the labels of the pictures, or a folder that has them: " + manifest.Tree,
	"val_images": "which have the labels of the pictures", "vocabulary": "whose labels are words",
	"frames_dir": "which has the labels of the clips", "features.train.labels": "whose rows they belong to",
	"features.train.truth": "whose rows it belongs to"}

// readBy returns the kinds of data that read a setting: the tag of of its field lists them, and without it all do.
func readBy(d setting.Declared) []Kind {
	if len(d.Of) == 0 && strings.HasPrefix(d.Key, "features.") {
		return []Kind{Features}
	}
	if len(d.Of) == 0 {
		return kinds()
	}
	var by []Kind
	for _, kind := range d.Of {
		by = append(by, Kind(kind))
	}
	return by
}

// chosenBy is the setting that chooses a kind of data by its value, for messages.
var chosenBy = map[Kind]string{
	Scenes: "`data.set` scenes", MovingScenes: "`data.set` moving-scenes", Captions: "`data.captions`",
	MSRVTT: "`data.msrvtt`", Clips: "`data.clips`", Features: "`data.features.train.features`",
	Manifest: "`data.manifest`",
}

// nouns name kinds of data in messages.
var nouns = map[Kind]string{
	Scenes: "the built-in scenes", MovingScenes: "the built-in moving scenes",
	Captions: "pictures with captions (`data.captions`)", MSRVTT: "the clips of MSR-VTT (`data.msrvtt`)",
	Clips: "clips with their labels (`data.clips`)", Features: "features (`data.features.train.features`)",
	Manifest: "a manifest (`data.manifest`)",
}

// Unread refuses, as a *setting.Error, the first setting that the user has set and that data of this kind do
// not read. A setting counts as set if given reports its key, such as data.images, or if its value differs
// from base, the configuration before the user's choices.
func (d *Config) Unread(base *Config, given func(key string) bool) error {
	before, now := setting.Values(base), setting.Values(d)
	empty := func(key string) bool { return reflect.ValueOf(now[key]).IsZero() }
	for _, s := range setting.Describe(d) {
		key, by := "data."+s.Key, readBy(s)
		if !given(key) && same(s.Value, before[s.Key]) {
			continue
		}
		switch {
		case key == "data.images" && d.Embedded() && missing(d.Images):
			return setting.Errorf(key, "`data.images`: folder %q does not exist", visible.Line(d.Images))
		case key == "data.images" && d.Embedded() && !given("data.set") && manifest.CheckLabelled(d.Images) != nil:
			return setting.Errorf(key, "%s: %w", visible.Line(d.Images), manifest.CheckLabelled(d.Images))
		case !slices.Contains(by, d.Set):
			return &setting.Error{Key: key, Reason: d.refusal(s.Key, by)}
		case needs[s.Key] != "" && empty(needs[s.Key]) && !empty(s.Key):
			return setting.Errorf(key, "`%s` has no effect without `data.%s`: give it too", key, needs[s.Key])
		}
	}
	return nil
}

// missing reports whether there is certainly nothing of a name.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// same reports whether two values of a setting mean the same: an empty list is none.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Slice && x.Len()+y.Len() == 0 || reflect.DeepEqual(a, b)
}

// refusal returns an error: data of this kind do not read a setting, and which kinds do.
func (d *Config) refusal(key string, by []Kind) error {
	var would []string
	for _, kind := range by {
		if chosenBy[kind] == "`data."+key+"`" { // another setting has chosen the kind over it
			return fmt.Errorf("`data.%s` has no effect on %s: data come from one source, leave out one of the two", key,
				nouns[d.Set])
		}
		would = append(would, chosenBy[kind])
	}
	cure := setting.Alternatives(would)
	if because[key] != "" {
		cure += ", " + because[key]
	}
	return fmt.Errorf("`data.%s` has no effect on %s: give %s; or leave it out", key, nouns[d.Set], cure)
}
