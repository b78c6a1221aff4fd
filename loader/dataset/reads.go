package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/loader/manifest"
)

// reading lists which kinds of data read a setting, below data.
type reading struct {
	key string
	by  []Kind
	// Another setting of data that this one requires; empty for none.
	beside string
	// because explains why only those kinds read it, after the list of kinds; empty if obvious.
	because string
}

var (
	allKinds  = kinds()
	embedded  = []Kind{Scenes, MovingScenes}
	onFiles   = []Kind{Captions, MSRVTT, Clips, Manifest} // pictures and frames that are decoded
	withWords = []Kind{Captions, MSRVTT, Clips, Manifest} // labels by name; some become classes
	heldOut   = []Kind{Captions, Clips, Features, Manifest}
)

// readings has a line for each setting of data. If the user sets one that the kind of data does not read, it
// is refused instead of silently ignored.
var readings = []reading{
	{key: "set", by: allKinds},
	{key: "classes", by: allKinds},
	{key: "seed", by: allKinds},
	{key: "train_size", by: embedded},
	{key: "validation_size", by: embedded},
	{key: "test_size", by: embedded},
	{key: "frames", by: []Kind{MovingScenes}},
	{key: "video_level", by: []Kind{MovingScenes, MSRVTT, Clips, Manifest}},

	{key: "captions", by: []Kind{Captions}},
	{key: "images", by: []Kind{Captions, Manifest}, because: "which have the labels of the pictures, or a folder " +
		"that has them: " +
		manifest.Tree},
	{key: "val_captions", by: []Kind{Captions}},
	{key: "val_images", by: []Kind{Captions}, beside: "val_captions", because: "which have the labels of the pictures"},
	{key: "validation_share", by: heldOut},
	{key: "test_share", by: heldOut},
	{key: "validation_ids", by: append([]Kind{MSRVTT}, heldOut...)},
	{key: "test_ids", by: append([]Kind{MSRVTT}, heldOut...)},
	{key: "captions_per_sample", by: []Kind{Captions, MSRVTT, Features, Manifest}},
	{key: "vocabulary", by: append([]Kind{Features}, withWords...), because: "whose labels are words"},
	{key: "vocabulary_size", by: withWords},
	{key: "min_count", by: withWords},
	{key: "keep_function_words", by: []Kind{Captions, MSRVTT}},

	{key: "msrvtt", by: []Kind{MSRVTT}},
	{key: "frames_dir", by: []Kind{MSRVTT}, because: "which has the labels of the clips"},
	{key: "clips", by: []Kind{Clips}},
	{key: "clip_labels", by: []Kind{Clips}},
	{key: "val_clips", by: []Kind{Clips}},
	{key: "test_clips", by: []Kind{Clips}},
	{key: "shuffle_block", by: []Kind{Clips}},
	{key: "shuffle_window", by: []Kind{Clips}},
	{key: "manifest", by: []Kind{Manifest}},
	{key: "label_form", by: []Kind{Manifest}},
	{key: "path_column", by: []Kind{Manifest}},
	{key: "join_labels", by: []Kind{Manifest}},
	{key: "skip_difficult", by: []Kind{Manifest}},

	{key: "features.train.features", by: []Kind{Features}},
	{key: "features.train.labels", by: []Kind{Features}, because: "whose rows they belong to"},
	{key: "features.train.truth", by: []Kind{Features}, because: "whose rows it belongs to"},
	{key: "features.train.counts", by: []Kind{Features}},
	{key: "features.validation.features", by: []Kind{Features}},
	{key: "features.validation.labels", by: []Kind{Features}, beside: "features.validation.features"},
	{key: "features.validation.truth", by: []Kind{Features}, beside: "features.validation.features"},
	{key: "features.validation.counts", by: []Kind{Features}, beside: "features.validation.features"},
	{key: "features.test.features", by: []Kind{Features}},
	{key: "features.test.labels", by: []Kind{Features}, beside: "features.test.features"},
	{key: "features.test.truth", by: []Kind{Features}, beside: "features.test.features"},
	{key: "features.test.counts", by: []Kind{Features}, beside: "features.test.features"},
	{key: "features.ids", by: []Kind{Features}},
	{key: "features.array", by: []Kind{Features}},
	{key: "features.label_array", by: []Kind{Features}},
	{key: "features.label_columns", by: []Kind{Features, Manifest}},
	{key: "features.list_column", by: []Kind{Features, Manifest}},
	{key: "features.id_column", by: []Kind{Features}},
	{key: "features.split_column", by: []Kind{Features}},
	{key: "features.ignore_columns", by: []Kind{Features, Manifest}},
	{key: "features.feature_columns", by: []Kind{Features}},
	{key: "features.standardise", by: []Kind{Features}},
	{key: "features.missing_values", by: []Kind{Features}},
	{key: "features.memory_limit", by: []Kind{Features}},

	{key: "evidence", by: allKinds},

	// Validate refuses a rate of replaced captions above 0 if there are no captions; 0 means the same
	// everywhere.
	{key: "noise", by: allKinds},
	{key: "noise_kind", by: allKinds},
	{key: "noise_file", by: allKinds},
	{key: "flips", by: allKinds},
	{key: "flip_spread", by: allKinds},
	{key: "flip_rates", by: allKinds},
	{key: "noise_seed", by: allKinds},
	{key: "fit", by: append([]Kind{Scenes, MovingScenes}, onFiles...)},
	{key: "resize", by: onFiles},
	{key: "orientation", by: onFiles},
	{key: "max_bad_samples", by: append([]Kind{Features}, onFiles...)},
	{key: "max_pixels", by: onFiles},
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
	now, before := setting.Values(d), setting.Values(base)
	empty := func(key string) bool { return reflect.ValueOf(now[key]).IsZero() }
	for _, r := range readings {
		if !given("data."+r.key) && same(now[r.key], before[r.key]) {
			continue
		}
		switch {
		case r.key == "images" && d.Embedded() && missing(d.Images):
			return setting.Errorf("data.images", "`data.images`: folder %q does not exist",
				visible.Line(d.Images))
		case r.key == "images" && d.Embedded() && !given("data.set") && manifest.CheckLabelled(d.Images) != nil:
			return setting.Errorf("data.images", "%s: %w", visible.Line(d.Images), manifest.CheckLabelled(d.Images))
		case !slices.Contains(r.by, d.Set):
			return &setting.Error{Key: "data." + r.key, Reason: r.refusal(d.Set)}
		case r.beside != "" && empty(r.beside) && !empty(r.key):
			return setting.Errorf("data."+r.key, "`data.%s` has no effect without `data.%s`: give it too", r.key,
				r.beside)
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

// refusal returns an error: data of a kind do not read the setting, and which kinds do.
func (r reading) refusal(set Kind) error {
	var would []string
	chooses := false
	for _, kind := range r.by {
		would = append(would, chosenBy[kind])
		chooses = chooses || chosenBy[kind] == "`data."+r.key+"`"
	}
	if chooses { // another setting has chosen the kind over it
		return fmt.Errorf("`data.%s` has no effect on %s: data come from one source, leave out one of the two", r.key,
			nouns[set])
	}
	cure := setting.Alternatives(would)
	if r.because != "" {
		cure += ", " + r.because
	}
	return fmt.Errorf("`data.%s` has no effect on %s: give %s; or leave it out", r.key, nouns[set], cure)
}
