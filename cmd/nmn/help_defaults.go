package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/run"
)

// keyAnnotation is the key of the setting that a flag sets, and ofRunAnnotation says that its default is that of a run.
const (
	keyAnnotation   = "nmn_key"
	ofRunAnnotation = "nmn_of_run"
)

// tellDefaults lets the help of a command say the defaults of the flags that set config by what they depend on.
func tellDefaults(cmd *cobra.Command, config *run.Config) { annotateKeys(cmd, config, keyAnnotation) }

// tellDefaultsOfRun is tellDefaults for a command on a run, whose configuration holds where no flag is given.
func tellDefaultsOfRun(cmd *cobra.Command, config *run.Config) {
	annotateKeys(cmd, config, ofRunAnnotation)
}

func annotateKeys(cmd *cobra.Command, config *run.Config, annotation string) {
	keys := setting.KeysOf(config)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if key := flagKey(f, keys); key != "" {
			f.Annotations[annotation] = []string{key}
		}
	})
}

// namedFile stands for the files that name a source: they have no default.
const namedFile = "FILE"

// fullSize ends the names of sources in full size.
const fullSize = " in full size"

// source is a kind of data with the least that names it.
type source struct {
	name string // for people
	kind dataset.Kind
	from run.Sources
	set  func(*dataset.Config)
}

// namedSources are the sources that defaults depend on, in the order in which help has them.
func namedSources() []source {
	given := func(key string) run.Sources { return run.Sources{Given: []string{key}} }
	nothing := func(*dataset.Config) {}
	return []source{
		{"scenes", dataset.Scenes, run.Sources{}, nothing},
		{"scenes" + fullSize, dataset.Scenes, run.Sources{Size: run.Full}, nothing},
		{"moving scenes", dataset.MovingScenes, run.Sources{Preset: run.MovingScenesPreset}, nothing},
		{"moving scenes" + fullSize, dataset.MovingScenes,
			run.Sources{Preset: run.MovingScenesPreset, Size: run.Full}, nothing},
		{"captions", dataset.Captions, given("data.captions"),
			func(d *dataset.Config) { d.Captions, d.Images = namedFile, namedFile }},
		{"manifests", dataset.Manifest, given("data.manifest"), func(d *dataset.Config) { d.Manifest = namedFile }},
		{"clips", dataset.Clips, given("data.clips"), func(d *dataset.Config) { d.Clips = namedFile }},
		{"MSR-VTT", dataset.MSRVTT, given("data.msrvtt"),
			func(d *dataset.Config) { d.MSRVTT, d.FramesDir = namedFile, namedFile }},
		{"features", dataset.Features, given("data.features.train.features"),
			func(d *dataset.Config) { d.Features.Train.Features = namedFile }},
	}
}

// sourceDefault is the default of a setting on a source, as its flag writes it.
type sourceDefault struct{ source, value string }

// sourceDefaults are the defaults of all settings, by their keys, on each source that reads them: what a configuration
// with nothing but that source resolves to.
var sourceDefaults = sync.OnceValues(func() (map[string][]sourceDefault, error) {
	defaults := map[string][]sourceDefault{}
	for _, s := range namedSources() {
		var c run.Config
		cmd := &cobra.Command{}
		enum(under(cmd, "Arm"), &c.Arm, "arm", "", recipe.Names()...)
		dataFlags(cmd, &c)
		featureDataFlags(cmd, &c, true)
		netFlags(cmd, &c)
		trainFlags(cmd, &c)
		runFlags(cmd, &c.Run)
		s.from.Apply = func() error { s.set(&c.Data); return nil }
		if err := s.from.Resolve(&c); err != nil {
			return nil, fmt.Errorf("help: defaults on %s: %w", s.name, err)
		}
		keys := setting.KeysOf(&c)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			key, value := flagKey(f, keys), f.Value.String()
			if r, ok := f.Value.(*recorded); ok && !r.alias && key != "" && key != "data.set" &&
				value != namedFile && dataset.Reads(s.kind, key) {
				defaults[key] = append(defaults[key], sourceDefault{s.name, value})
			}
		})
	}
	return defaults, nil
})

// defaultText says the default of a setting: one that holds everywhere as it is, others with the sources on which they
// hold; empty where there is none to tell.
func defaultText(all []sourceDefault) string {
	var values []string
	on := map[string][]string{}
	for _, d := range all {
		if quick, full := strings.CutSuffix(d.source, fullSize); full && slices.Contains(on[d.value], quick) {
			continue
		}
		if on[d.value] == nil {
			values = append(values, d.value)
		}
		on[d.value] = append(on[d.value], d.source)
	}
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	most := slices.MaxFunc(values, func(a, b string) int { return cmp.Compare(len(on[a]), len(on[b])) })
	rest := len(on[most]) >= 3 && on[""] == nil // a long list need not be told
	if rest {
		values = append(slices.DeleteFunc(values, func(v string) bool { return v == most }), most)
	}
	var texts []string
	for _, v := range values {
		switch {
		case v == "":
		case v == most && rest:
			texts = append(texts, v+" elsewhere")
		default:
			texts = append(texts, v+" on "+listed(on[v]))
		}
	}
	return strings.Join(texts, ", ")
}

// listed joins names for people.
func listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// shown is a flag as help shows it, with the default that will hold.
func shown(f *pflag.Flag) *pflag.Flag {
	told := *f
	r, ok := f.Value.(*recorded)
	if f.Annotations[ofRunAnnotation] != nil || f.Annotations[keyAnnotation] != nil && ok && r.alias {
		told.DefValue = "" // that of the run, or of the other flag
		return &told
	}
	key := f.Annotations[keyAnnotation]
	defaults, err := sourceDefaults()
	if len(key) == 0 || err != nil || len(defaults[key[0]]) == 0 {
		return f
	}
	if told.DefValue = defaultText(defaults[key[0]]); strings.Contains(told.DefValue, " on ") {
		told.Value = plain{f.Value} // without quotes
	}
	return &told
}

// plain is a value whose default is written as it is.
type plain struct{ pflag.Value }

// Type is no type that pflag writes in quotes.
func (plain) Type() string { return "value" }
