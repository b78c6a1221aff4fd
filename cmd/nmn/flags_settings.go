package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nmn/captioner/session"
	"nmn/internal/setting"
	"nmn/loader/augment"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/run"
	"nmn/run/document"
	"nmn/train"
)

// settings are the settings on a command line, in its order. --set takes every key; common settings also have a flag.
// If a key is set twice, the later value counts.
type settings struct {
	given []*document.Setting
	// declared are the settings of the configuration by their keys. scratch makes an empty configuration.
	declared map[string]setting.Declared
	scratch  func() any
	keys     map[string][]string // of the flags
}

// settingsOf returns the settings of a configuration, a pointer to a struct. It does not change the struct.
func settingsOf(config any) settings {
	s := settings{keys: flagKeys, declared: map[string]setting.Declared{},
		scratch: func() any { return reflect.New(reflect.TypeOf(config).Elem()).Interface() }}
	for _, d := range setting.Describe(config) {
		s.declared[d.Key] = d
	}
	return s
}

// captionerSettings returns the settings of a captioner.
func captionerSettings() settings {
	s := settingsOf(&session.Config{})
	s.keys = captionerKeys
	return s
}

// flagKeys are the keys of the settings of a run that have a flag. A flag with two keys sets both.
var flagKeys = map[string][]string{
	"arm": {"arm"}, "mil": {"net.mil"}, "noise-rates": {"noise_rates"},
	"images": {"data.images"}, "labels": {"data.features.train.labels"}, "vocab": {"data.vocabulary"},
	"noise": {"data.noise"}, "flips": {"data.flips"}, "max-bad-samples": {"data.max_bad_samples"},
	"net": {"net.arch"}, "init": {"net.weights"}, "backbone": {"net.backbone"}, "input-size": {"net.input_size"},
	"seed": {"train.seed"}, "epochs": {"train.stage1_epochs", "train.stage2_epochs"},
	"batch-size":    {"train.batch_size", "train.batch_size_mil"},
	"learning-rate": {"train.learning_rate"}, "augment": {"train.augment"},
	"device": {"run.device"}, "precision": {"run.precision"}, "threads": {"run.threads"},
}

// flagHelp is the help of flags by the first key that they set, if they take other values than this setting. Other
// flags have the help of their setting, up to a semicolon.
var flagHelp = map[string]string{
	"arm":                 "train this `arm`, such as nmn-fd or baseline (nmn config arm)",
	"data.noise":          "replace this `share` of captions, or apply a file of nmn noise",
	"train.stage1_epochs": "train each stage for this many `epochs`",
	"train.batch_size":    "put this many `pictures` in a batch; auto finds the number",
	"train.augment":       "change pictures at random this `way`: none, light or strong",
	captionFeatures:       "train nets on this `file` of features, a row for each picture",
}

// captionerKeys are the keys of the settings of a captioner that have a flag.
var captionerKeys = map[string][]string{
	"features": {"data.train.features"}, "clips": {"data.train.clips"}, "captions": {"data.train.captions"},
	"val-features": {"data.validation.features"}, "val-clips": {"data.validation.clips"},
	"val-captions": {"data.validation.captions"}, "vocab": {"data.vocabulary"}, "partial": {"data.partial"},
	"epochs": {"train.epochs"}, "batch-size": {"train.batch"}, "learning-rate": {"train.learning_rate"},
	"seed": {"train.seed"}, "device": {"device"}, "threads": {"threads"},
}

// add declares flags of settings under a heading.
func (s *settings) add(r group, flags ...string) {
	for _, flag := range flags {
		s.flag(r, flag, s.keys[flag]...)
	}
}

// addTraining declares the flags of a training's settings.
func (s *settings) addTraining(cmd *cobra.Command) {
	s.add(under(cmd, "Arm"), "arm", "mil", "noise-rates")
	s.add(under(cmd, "Data"), "images", "labels", "vocab", "noise", "flips", "max-bad-samples")
	s.add(under(cmd, "Network"), "net", "init", "backbone", "input-size")
	s.add(under(cmd, "Training"), "seed", "epochs", "batch-size", "learning-rate", "augment")
	s.add(under(cmd, "Run"), "device", "precision", "threads")
}

// flag declares a flag that sets keys.
func (s *settings) flag(r group, name string, keys ...string) {
	d, single := s.declared[keys[0]]
	usage, written := flagHelp[keys[0]]
	if !written {
		usage, _, _ = strings.Cut(strings.NewReplacer("<", "`", ">", "`").Replace(d.Help), ";")
		if strings.Contains(keys[0], "validation.") {
			usage = "validation: " + usage
		}
		if d.Values != nil {
			usage += ": " + setting.Alternatives(d.Values)
		}
	}
	r.value(&settingFlag{s, name, keys}, name, usage)
	if single && d.Bool() {
		r.set.Lookup(name).NoOptDefVal = "true"
	}
	switch {
	case d.Values != nil:
		r.completes(name, d.Values...)
	case name == "device":
		r.completes(name, "auto", "cpu", "cuda")
	case name == "augment":
		r.completes(name, setting.Texts(augment.Bundles())...)
	case strings.Contains(d.Help, "<file>"):
		_ = r.cmd.MarkFlagFilename(name) // fails only for a flag that was not declared
	case strings.Contains(d.Help, "<folder>"):
		_ = r.cmd.MarkFlagDirname(name)
	}
}

// settingFlag is a flag of one or more settings, which all get its value.
type settingFlag struct {
	all  *settings
	name string
	keys []string
}

func (f *settingFlag) String() string { return "" }

// Type names the value of the flag. pflag shows no type for a flag of type bool.
func (f *settingFlag) Type() string {
	if d := f.all.declared[f.keys[0]]; d.Value != nil && d.Bool() {
		return "bool"
	}
	return "value"
}

func (f *settingFlag) Set(text string) error {
	for _, key := range f.keys {
		of, err := meant(f.name, key, text)
		if err != nil {
			return err
		}
		for _, one := range of {
			d := f.all.declared[one[0]]
			if err := f.all.take(document.TextSetting(one[0], one[1], d.Value != nil && d.List())); err != nil {
				return err
			}
		}
	}
	return nil
}

// meant returns the settings that a flag sets, each with its value.
func meant(flag, key, text string) ([][2]string, error) {
	switch flag {
	case "noise":
		if _, err := parseFloat(text); err != nil { // a file; overrides the share of a preset
			return [][2]string{{key, "0"}, {"data.noise_file", text}}, nil
		}
	case "batch-size":
		if text == "auto" {
			return [][2]string{{key, strconv.Itoa(train.AutoBatch)}}, nil
		}
		if n, err := strconv.Atoi(text); err != nil || n < 1 {
			return nil, setting.Errorf(key, "%s is %q, want a whole number of at least 1, or auto", key, text)
		}
	}
	return [][2]string{{key, text}}, nil
}

// take adds a setting if its value can be decoded.
func (s *settings) take(one *document.Setting) error {
	scratch := s.scratch()
	if err := one.Apply(scratch); err != nil {
		return err
	}
	for _, d := range setting.Describe(scratch) {
		if d.Key == one.Key || strings.HasPrefix(d.Key, one.Key+".") {
			if err := d.Check(); err != nil {
				return setting.Errorf(d.Key, "%s %w", d.Key, err)
			}
		}
	}
	s.given = append(slices.DeleteFunc(s.given, func(other *document.Setting) bool { return other.Key == one.Key }), one)
	return nil
}

// apply applies the settings to a configuration.
func (s *settings) apply(config any) error {
	for _, one := range s.given {
		if err := one.Apply(config); err != nil {
			return err
		}
	}
	return nil
}

// setFlag is --set.
type setFlag struct{ all *settings }

func (f setFlag) String() string { return "" }

func (f setFlag) Type() string { return "key=value" }

func (f setFlag) Set(text string) error {
	one, err := document.ParseSetting(text)
	if err != nil {
		return err
	}
	if slices.Contains(records, one.Key) {
		return setting.Errorf(one.Key, "%s cannot be set: nmn writes it", one.Key)
	}
	if key := one.Key; key == "preset" || key == "size" {
		return setting.Errorf(key, "%s cannot be set: use --preset and --size", key)
	}
	return f.all.take(one)
}

// setFlags declares --set.
func setFlags(r group, s *settings) {
	r.value(setFlag{s}, "set", "set any setting, as `key=value` (nmn config lists them)")
	for _, key := range slices.Sorted(maps.Keys(s.declared)) {
		r.completes("set", key+"=")
	}
}

// sources are the flags that make up the configuration of a run.
type sources struct {
	settings
	preset run.PresetName
	size   run.Size
	file   string
}

func newSources() sources { return sources{settings: settingsOf(&run.Config{})} }

// sourceFlags declares the flags of all layers of a configuration.
func sourceFlags(cmd *cobra.Command, s *sources, sizes ...run.Size) {
	r := under(cmd, "Configuration")
	enum(r, &s.preset, "preset", "start from these `settings`", run.Presets()...)
	enum(r, &s.size, "size", "draw this `number` of scenes", sizes...)
	r.file(&s.file, "config", "read settings from this YAML `file`; flags override it", "yaml", "yml")
	setFlags(r, &s.settings)
}

// runSettings declares the flags that change the configuration of an existing run.
func runSettings(cmd *cobra.Command, s *sources) {
	setFlags(under(cmd, "Configuration"), &s.settings)
	s.add(under(cmd, "Run"), "device", "precision", "threads")
}

// of returns the sources in the form that package run takes.
func (s *sources) of() run.Sources {
	return run.Sources{Preset: s.preset, Size: s.size, File: s.file, Settings: s.given}
}

// data adds the settings for DATA, the argument of a command, if it is given. It recognises the kind by the content.
func (s *sources) data(ctx context.Context, p *program, args []string) error {
	if len(args) == 0 {
		return nil
	}
	given := map[string]string{}
	for _, one := range s.given {
		given[one.Key] = one.Text()
	}
	found, err := dataset.Recognise(ctx, args[0], manifest.Form(given["data.label_form"]))
	if err != nil {
		return err
	}
	gives := func(key string) bool { _, ok := given[key]; return ok }
	ending := dataset.TextEnding(args[0])
	switch table := ending == ".csv" || ending == ".tsv"; {
	case table && gives("data.features.train.labels"):
		found = dataset.Recognised{Kind: dataset.Features, Text: "features, because --labels is given"}
	case table && gives("data.images") && found.Kind == dataset.Features:
		found = dataset.Recognised{Kind: dataset.Manifest, Text: "a list of pictures or clips, because --images is given"}
	}
	of := []*document.Setting{document.TextSetting("data.set", string(found.Kind), false)}
	if key := found.Kind.Key(); key != "" {
		of = append(of, document.TextSetting(key, args[0], false))
	}
	if found.Kind == dataset.MovingScenes && s.preset == "" && s.file == "" {
		s.preset = run.MovingScenesPreset
	}
	s.given = append(of, s.given...) // --set overrides it
	p.note("data    %s: %s", args[0], found.Text)
	return nil
}

// oneData refuses more than one DATA, such as one table for training and another for the test.
func oneData(p *program) cobra.PositionalArgs {
	return arguments(p, func(_ *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return fmt.Errorf("%s and %s: want one DATA; join tables of training and test to one, with a column split that "+
			"holds train, validation or test", args[0], args[1])
	})
}
