package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/run"
)

type configCommand struct {
	sources sources
	asJSON  bool
	schema  bool
}

func newConfig(p *program) *cobra.Command {
	c := configCommand{sources: newSources()}
	cmd := &cobra.Command{
		Use:   "config [DATA | KEY...]",
		Short: "List all settings with their values, or explain some",
		Long: `List the settings of a run as a file that --config takes, or explain each KEY, such as
data.noise, or section, such as train.augment. DATA is what nmn train takes.`,
		Annotations: details(`Settings come in layers: a preset, a file (--config), then flags and --set. The preset and a few
other choices follow from DATA. The explanation of a KEY has its meaning, its values and its
current value.`),
		Example: `  nmn config > run.yaml
  nmn config pictures.csv --set train.schedule=cosine
  nmn config train.patience data.noise`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return slices.Sorted(maps.Keys(settingKeys())), cobra.ShellCompDirectiveDefault
		},
	}
	sourceFlags(cmd, &c.sources, run.Quick, run.Full)
	c.sources.addTraining(cmd)
	out := under(cmd, "Output")
	out.bool(&c.asJSON, "json", "print the settings as one JSON object")
	out.bool(&c.schema, "schema", "print a JSON schema of configuration files")
	return cmd
}

func (c *configCommand) run(ctx context.Context, p *program, args []string) error {
	if c.schema {
		return writeJSON(p.out, setting.Schema(&run.Config{}))
	}
	var keys, data []string
	for _, arg := range args {
		if settingKeys()[arg] {
			keys = append(keys, arg)
		} else {
			data = append(data, arg)
		}
	}
	if len(data) > 1 || len(data) == 1 && strings.Count(data[0], ".") > 0 && len(keys) > 0 {
		return usagef("config: %s is not a key; nmn config lists the keys", data[len(data)-1])
	}
	var config run.Config
	if err := c.sources.data(ctx, p, data); err != nil {
		if near := setting.Near(data[0], slices.Sorted(maps.Keys(settingKeys()))); near != "" {
			err = fmt.Errorf("%w; did you mean the key %s?", err, near)
		}
		return err
	}
	if err := c.sources.of().Resolve(&config); err != nil {
		return err
	}
	switch {
	case len(keys) > 0:
		return explain(p, &config, keys)
	case c.asJSON:
		return printSettings(p, &config)
	}
	return printConfig(p, &config)
}

// explain describes settings, or all settings of a section.
func explain(p *program, config *run.Config, keys []string) error {
	var b strings.Builder
	for _, d := range setting.Describe(config) {
		if !slices.ContainsFunc(keys, func(key string) bool { return d.Key == key || strings.HasPrefix(d.Key, key+".") }) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  %s\n", d.Key, d.Plain())
		fmt.Fprintf(&b, "  %s\n", strings.Join(slices.DeleteFunc([]string{d.Type(), d.Limits()}, func(s string) bool {
			return s == ""
		}), ": "))
		value := fmt.Sprint(d.Value)
		if value == "" || value == "[]" {
			value = "not set"
		}
		fmt.Fprintf(&b, "  here: %s\n", visible.Line(value))
		if flag := flagOfSetting(d.Key); flag != "" {
			fmt.Fprintf(&b, "  flag: %s\n", flag)
		}
	}
	_, err := p.out.Write([]byte(b.String()))
	return err
}

// printSettings writes the resolved configuration to standard output as one JSON object, by keys.
func printSettings(p *program, c *run.Config) error {
	values := setting.Values(c)
	for _, record := range records {
		delete(values, record)
	}
	data, err := setting.JSON(values)
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}

// printConfig writes the resolved configuration to standard output, then the name of the backbone as a comment.
func printConfig(p *program, c *run.Config) error {
	data, err := c.YAML()
	if err != nil {
		return err
	}
	if c.Net.Backbone != "" {
		info, err := recogniseBackbone(p, c.Net.Backbone, c.Net.BackboneOptions())
		text := fmt.Sprint(info)
		if err != nil {
			text = oneLine(err)
		}
		data = fmt.Appendf(data, "# backbone: %s\n", visible.Line(text))
	}
	_, err = p.out.Write(data)
	return err
}
