package main

import (
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/run"
)

// resolve makes the configuration of a command: preset, file and flags.
func (s *sources) resolve(flags *pflag.FlagSet, c *run.Config) error {
	return s.of(flags, c).Resolve(c)
}

// of are the sources of a command's configuration c, which its flags point to.
func (s *sources) of(flags *pflag.FlagSet, c *run.Config) run.Sources {
	given := givenFlags(flags)
	keys := settingKeys(c)
	from := run.Sources{Preset: s.preset, Size: s.size, File: s.file,
		Apply: func() error { return setAgain(flags, given) }}
	for _, flag := range given {
		if key := flagKey(flags.Lookup(flag.name), keys); key != "" {
			from.Given = append(from.Given, key)
		}
	}
	return from
}

// setAgain lays flags of the command line over a configuration that was read after they were parsed.
func setAgain(flags *pflag.FlagSet, given []givenFlag) error {
	for _, flag := range given {
		if err := flags.Set(flag.name, flag.value); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// settingKeys maps the address of every setting of a configuration to its key, such as data.noise. A section has the
// address of its first setting, and thus no entry of its own but where the type tells them apart.
func settingKeys(config any) map[settingAddress]string {
	keys := map[settingAddress]string{}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		keys[settingAddress{v.Addr().Pointer(), v.Type()}] = path
		if v.Kind() != reflect.Struct {
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			switch {
			case option == "inline":
				walk(v.Field(i), path)
				continue
			case !field.IsExported() || key == "-":
				continue
			case path != "":
				key = path + "." + key
			}
			walk(v.Field(i), key)
		}
	}
	walk(reflect.ValueOf(config).Elem(), "")
	return keys
}

// settingAddress is where a setting lies in memory.
type settingAddress struct {
	at uintptr
	of reflect.Type
}

// flagKey is the key of the setting that a flag sets; empty for flags of a command alone.
func flagKey(f *pflag.Flag, keys map[settingAddress]string) string {
	r, ok := f.Value.(*recorded)
	if !ok || r.target == nil {
		return ""
	}
	v := reflect.ValueOf(r.target)
	return keys[settingAddress{v.Pointer(), v.Type().Elem()}]
}

// printConfig writes the resolved configuration to standard output.
func printConfig(p *program, c *run.Config) error {
	data, err := c.YAML()
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}

// sources are the flags that say what a configuration is made of, beside the fields themselves.
type sources struct {
	preset run.Preset
	size   run.Size
	file   string
	print  bool
}

func sourceFlags(cmd *cobra.Command, s *sources, sizes ...run.Size) {
	r := under(cmd, "Configuration")
	enum(r, &s.preset, "preset", "`name` of the settings to start from (default scenes; with --captions or "+
		"--manifest paper-coco, with --msrvtt or --clips paper-msrvtt, with --features features)", run.Presets()...)
	enum(r, &s.size, "size", "`size` of the scenes presets (default "+string(sizes[0])+"); quick is 4,000 pictures "+
		"(moving-scenes: 1,000 clips of 8 frames), full 16,000 (2,000 of 26)", sizes...)
	r.file(&s.file, "config", "YAML `file` laid over the preset; flags go before it", "yaml", "yml")
	r.bool(&s.print, "print-config", "print the resolved configuration as YAML, and stop")
}
