package main

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/loader/augment"
	"nmn/loader/dataset"
	"nmn/run"
	"nmn/train"
)

// settings are the settings that a command line gives: by --set, for every key, and by flags of their own, for those
// that people change most. They are kept in the order of the command line: of two for the same key the later one
// counts.
type settings struct {
	given []*run.Setting
	// declared are the settings of the configuration, by their keys; scratch makes an empty one.
	declared map[string]setting.Declared
	scratch  func() any
}

// settingsOf returns the settings of a kind of configuration, a pointer to a struct, which is not changed.
func settingsOf(config any) settings {
	s := settings{declared: map[string]setting.Declared{},
		scratch: func() any { return reflect.New(reflect.TypeOf(config).Elem()).Interface() }}
	for _, d := range setting.Describe(config) {
		s.declared[d.Key] = d
	}
	return s
}

// flagKeys are the keys of the settings of a run that have a flag. A flag with two keys sets both.
var flagKeys = map[string][]string{
	"arm": {"arm"}, "mil": {"net.mil"}, "noise-rates": {"noise_rates"},
	"images": {"data.images"}, "labels": {"data.features.train.labels"}, "vocab": {"data.vocabulary"},
	"noise": {"data.noise"}, "flips": {"data.flips"}, "max-bad-samples": {"data.max_bad_samples"},
	"net": {"net.arch"}, "init": {"net.weights"}, "backbone": {"net.backbone"}, "input-size": {"net.input_size"},
	"seed": {"train.seed"}, "epochs": {"train.stage1_epochs", "train.stage2_epochs"},
	"batch-size":    {"train.batch_bags", "train.batch_bags_mil"},
	"learning-rate": {"train.learning_rate"}, "augment": {"train.augment"},
	"device": {"run.device"}, "precision": {"run.precision"}, "threads": {"run.threads"},
}

// flagHelp is the help of flags that say more, or less, than one setting.
var flagHelp = map[string]string{
	"noise": "`share` of each training picture's captions to replace by those of other pictures, or a file of nmn " +
		"noise",
	"epochs":     "`epochs` of both stages",
	"batch-size": "`pictures` of a batch, or auto: as many as make steps fast and fit in memory",
	"augment":    "random changes of pictures: none, light or strong (docs/guide/augmentation.md)",
}

// add declares flags of a run's settings under a heading.
func (s *settings) add(r group, flags ...string) {
	for _, flag := range flags {
		s.flag(r, flag, flagKeys[flag]...)
	}
}

// addTraining declares the flags of the settings that a training takes.
func (s *settings) addTraining(cmd *cobra.Command) {
	s.add(under(cmd, "Arm"), "arm", "mil", "noise-rates")
	s.add(under(cmd, "Data"), "images", "labels", "vocab", "noise", "flips", "max-bad-samples")
	s.add(under(cmd, "Network"), "net", "init", "backbone", "input-size")
	s.add(under(cmd, "Training"), "seed", "epochs", "batch-size", "learning-rate", "augment")
	s.add(under(cmd, "Run"), "device", "precision", "threads")
}

// flag declares one that sets keys.
func (s *settings) flag(r group, name string, keys ...string) {
	d, single := s.declared[keys[0]]
	usage, written := flagHelp[name]
	if !written {
		usage = strings.NewReplacer("<", "`", ">", "`").Replace(d.Help)
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
	case strings.HasPrefix(d.Help, "<file>"):
		_ = r.cmd.MarkFlagFilename(name) // fails only for a flag that was not declared
	case strings.HasPrefix(d.Help, "<folder>"):
		_ = r.cmd.MarkFlagDirname(name)
	}
}

// settingFlag is a flag of one setting, or of several that get the same value.
type settingFlag struct {
	all  *settings
	name string
	keys []string
}

func (f *settingFlag) String() string { return "" }

// Type names what has to follow; pflag writes no type of a flag that needs no value.
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
			if err := f.all.take(run.TextSetting(one[0], one[1], d.Value != nil && d.List())); err != nil {
				return err
			}
		}
	}
	return nil
}

// meant are the settings, each with its value, that a flag stands for.
func meant(flag, key, text string) ([][2]string, error) {
	switch flag {
	case "noise":
		if _, err := parseFloat(text); err != nil { // a file, in place of the share of a preset
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

// take adds a setting that can be decoded.
func (s *settings) take(one *run.Setting) error {
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
	s.given = append(slices.DeleteFunc(s.given, func(other *run.Setting) bool { return other.Key == one.Key }), one)
	return nil
}

// setFlag is --set.
type setFlag struct{ all *settings }

func (f setFlag) String() string { return "" }

func (f setFlag) Type() string { return "key=value" }

func (f setFlag) Set(text string) error {
	one, err := run.ParseSetting(text)
	if err != nil {
		return err
	}
	if slices.Contains(records, one.Key) {
		return setting.Errorf(one.Key, "%s is no setting: nmn writes it", one.Key)
	}
	if key := one.Key; key == "preset" || key == "size" {
		return setting.Errorf(key, "%s is no setting of its own; what to start from is named by --preset and --size", key)
	}
	return f.all.take(one)
}

// setFlags declares --set.
func setFlags(r group, s *settings) {
	r.value(setFlag{s}, "set", "`key=value` of any setting, such as data.noise=0.2; may be given again. nmn config lists "+
		"the keys")
	keys := make([]string, 0, len(s.declared))
	for key := range s.declared {
		keys = append(keys, key+"=")
	}
	slices.Sort(keys)
	r.annotate("set", settingAnnotation, keys)
}

// sources are the flags that say what the configuration of a run is made of.
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
	enum(r, &s.preset, "preset", "`name` of the settings to start from (default by the data)", run.Presets()...)
	enum(r, &s.size, "size", "`size` of the scenes presets (default "+string(sizes[0])+"); quick is 4,000 pictures, "+
		"full 16,000", sizes...)
	r.file(&s.file, "config", "YAML `file` over the preset; flags override it", "yaml", "yml")
	setFlags(r, &s.settings)
}

// runSettings declares what changes the configuration of a run that a command works on.
func runSettings(cmd *cobra.Command, s *sources) {
	setFlags(under(cmd, "Configuration"), &s.settings)
	s.add(under(cmd, "Run"), "device", "precision", "threads")
}

// of are the sources of a configuration, as run takes them.
func (s *sources) of() run.Sources {
	return run.Sources{Preset: s.preset, Size: s.size, File: s.file, Settings: s.given}
}

// data takes the argument DATA of a command, if there is one: what it is follows from its content.
func (s *sources) data(ctx context.Context, p *program, args []string) error {
	if len(args) == 0 {
		return nil
	}
	found, err := dataset.Recognise(ctx, args[0])
	if err != nil {
		return err
	}
	gives := func(key string) bool {
		return slices.ContainsFunc(s.given, func(one *run.Setting) bool { return one.Key == key })
	}
	ending := strings.ToLower(filepath.Ext(strings.TrimSuffix(args[0], ".gz")))
	switch table := ending == ".csv" || ending == ".tsv"; {
	case table && gives("data.features.train.labels"):
		found = dataset.Recognised{Kind: dataset.Features, Key: "features.train.features",
			Text: "features, for --labels has their labels"}
	case table && gives("data.images") && found.Kind == dataset.Features:
		found = dataset.Recognised{Kind: dataset.Manifest, Key: "manifest",
			Text: "a list of pictures or clips, for --images has them"}
	}
	of := []*run.Setting{run.TextSetting("data.set", string(found.Kind), false)}
	if found.Key != "" {
		of = append(of, run.TextSetting("data."+found.Key, args[0], false))
	}
	if found.Kind == dataset.MovingScenes && s.preset == "" && s.file == "" {
		s.preset = run.MovingScenesPreset
	}
	s.given = append(of, s.given...) // --set overrides it
	p.note("data    %s: %s", args[0], found.Text)
	return nil
}

// oneData refuses more than one DATA.
func oneData(p *program) cobra.PositionalArgs { return arguments(p, cobra.MaximumNArgs(1)) }
