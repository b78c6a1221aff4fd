package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/run"
)

// sources are the flags that say what a configuration is made of, beside the fields themselves.
type sources struct {
	preset run.PresetName
	size   run.Size
	file   string
	set    assignments
	print  bool
}

func sourceFlags(cmd *cobra.Command, s *sources, sizes ...run.Size) {
	r := under(cmd, "Configuration")
	enum(r, &s.preset, "preset", "`name` of the settings to start from (default scenes; with --captions or "+
		"--manifest paper-coco, with --msrvtt or --clips paper-msrvtt, with --features features)", run.Presets()...)
	enum(r, &s.size, "size", "`size` of the scenes presets (default "+string(sizes[0])+"); quick is 4,000 pictures "+
		"(moving-scenes: 1,000 clips of 8 frames), full 16,000 (2,000 of 26)", sizes...)
	r.file(&s.file, "config", "YAML `file` laid over the preset; flags go before it", "yaml", "yml")
	r.value(&s.set, &s.set, "set", "`key=value` of any setting of the configuration, such as data.noise=0.2, laid over "+
		"file and flags; may be given again for others")
	r.bool(&s.print, "print-config", "print the resolved configuration as YAML, and stop")
}

// resolve makes the configuration of a command: preset, file and flags.
func (s *sources) resolve(flags *pflag.FlagSet, c *run.Config) error {
	return s.of(flags, c).Resolve(c)
}

// of are the sources of a command's configuration c, which its flags point to.
func (s *sources) of(flags *pflag.FlagSet, c *run.Config) run.Sources {
	given := givenFlags(flags)
	keys := setting.KeysOf(c)
	from := run.Sources{Preset: s.preset, Size: s.size, File: s.file,
		Apply: func() error { return cmp.Or(setAgain(flags, given), s.set.apply(c)) }}
	for _, flag := range given {
		if key := flagKey(flags.Lookup(flag.name), keys); key != "" {
			from.Given = append(from.Given, key)
			if key == "data.images" {
				from.Images = flag.value
			}
		}
	}
	for _, one := range s.set {
		from.Given = append(from.Given, one.Key)
		if one.Key == "data.images" {
			from.Images = one.Text()
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

// flagKey is the key of the setting that a flag sets; empty for flags of a command alone.
func flagKey(f *pflag.Flag, keys setting.Keys) string {
	r, ok := f.Value.(*recorded)
	if !ok || r.target == nil {
		return ""
	}
	return keys.At(r.target)
}

// printSettings writes the resolved configuration to standard output as one JSON object, by keys.
func printSettings(p *program, c *run.Config) error {
	values := setting.Values(c)
	delete(values, "build") // says who wrote a file
	data, err := setting.JSON(values)
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}

// printConfig writes the resolved configuration to standard output, and behind it, as a comment, which net a backbone is.
func printConfig(p *program, c *run.Config) error {
	data, err := c.YAML()
	if err != nil {
		return err
	}
	if c.Net.Backbone != "" {
		text := ""
		info, err := recogniseBackbone(p, c.Net.Backbone, c.Net.BackboneOptions())
		if err != nil {
			text = oneLine(err)
		} else {
			text = info.String()
		}
		data = fmt.Appendf(data, "# backbone: %s\n", visible.Line(text))
	}
	_, err = p.out.Write(data)
	return err
}
