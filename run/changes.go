package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nmn/recipe"
)

// mayChange are the settings that a run may be continued with, for they change no step.
var mayChange = []string{
	"run.", "build.", "size", "data.max_bad_samples", "train.stage1_epochs", "train.stage2_epochs", "train.max_steps",
	"train.log_steps", "train.evaluate_", "train.checkpoint_", "train.keep_best",
}

// convExact is the one setting below run. that may not change: it changes the last bits of every step, on the same
// machine.
const convExact = "run.conv_exact"

// FirstChange finds the first setting that makes two configurations different runs.
func FirstChange(a, b *Config) (key, was, is string) {
	return ChangedKey(Flatten(a), Flatten(b), mayChange)
}

// ChangedKey finds the first key in which two flat configurations differ, but for those with one of the free
// prefixes.
func ChangedKey(x, y map[string]string, free []string) (key, was, is string) {
	all := maps.Clone(x)
	maps.Copy(all, y) // what is not set is left out of either
	for _, k := range SortedKeys(all) {
		isFree := func(prefix string) bool { return strings.HasPrefix(k, prefix) && k != convExact }
		if x[k] != y[k] && !slices.ContainsFunc(free, isFree) {
			return k, orEmpty(x[k]), orEmpty(y[k])
		}
	}
	return "", "", ""
}

func orEmpty(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}

// formKey is the key of the form of the recipe.
const formKey = "recipe.form"

// Flatten maps the path of each value of a configuration, such as data.noise, to the value.
func Flatten(c any) map[string]string {
	out := map[string]string{}
	var root yaml.Node
	if err := root.Encode(c); err != nil {
		return out // a configuration is plain values
	}
	var walk func(path string, n *yaml.Node)
	walk = func(path string, n *yaml.Node) {
		switch {
		case n.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(path+"."+n.Content[i].Value, n.Content[i+1])
			}
		case n.Kind == yaml.SequenceNode:
			for i, item := range n.Content {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		default:
			out[strings.TrimPrefix(path, ".")] = n.Value
		}
	}
	walk("", &root)
	switch out[formKey] {
	case string(recipe.Paper): // runs of before there was a choice do not say so
		delete(out, formKey)
	case string(recipe.Estimate): // under its old name, by which runs are known
		out[formKey] = string(recipe.CrossFit)
	}
	return out
}

// SortedKeys are the keys of a flat configuration in their order.
func SortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
