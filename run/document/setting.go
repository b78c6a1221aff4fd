package document

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nmn/internal/setting"
)

// Setting is a single setting that is named by its key, such as data.noise.
type Setting struct {
	Key      string
	document *Document
}

// NewSetting reads the value of a setting, which is written as in a configuration file: 0.4, [1, 2], true, a text.
func NewSetting(key, value string) (*Setting, error) {
	d, err := Parse(key, []byte(value))
	if err != nil {
		return nil, ofSetting(key, err)
	}
	node := cmp.Or(d.root, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: 1})
	return &Setting{key, nested(key, node)}, nil
}

// TextSetting is a setting whose value is one text, or several with commas between them, as a flag takes it: nothing in
// it is syntax of YAML.
func TextSetting(key, text string, list bool) *Setting {
	scalar := func(s string) *yaml.Node {
		if s == "" || s == "~" || strings.EqualFold(s, "null") { // texts, not the absence of a value
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: 1}
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Value: s, Line: 1}
	}
	if !list {
		return &Setting{key, nested(key, scalar(text))}
	}
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: 1}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			node.Content = append(node.Content, scalar(part))
		}
	}
	return &Setting{key, nested(key, node)}
}

// nested is a document that has a value at a key and nothing else.
func nested(key string, node *yaml.Node) *Document {
	names := strings.Split(key, ".")
	for i := len(names) - 1; i >= 0; i-- {
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: names[i], Line: 1}
		node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{name, node}, Line: 1}
	}
	return &Document{key, node}
}

// ParseSetting reads a setting that is written as key=value, as nmn train --set takes it.
func ParseSetting(text string) (*Setting, error) {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return nil, setting.Errorf("", "%q: want a key and a value, such as data.noise=0.2; nmn config lists the keys", text)
	}
	return NewSetting(key, value)
}

// ParseSettings is ParseSetting for several.
func ParseSettings(texts ...string) ([]*Setting, error) {
	all := make([]*Setting, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = ParseSetting(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Text is the value as it was written, where it is a single one.
func (s *Setting) Text() string { return s.document.Text(s.Key) }

// Apply lays the setting over config, a pointer to a struct. A key that config does not have is an error that names
// the key that is like it.
func (s *Setting) Apply(config any) error {
	keys := setting.KeysIn(config)
	known := func(key string) bool { return key == s.Key || strings.HasPrefix(key, s.Key+".") }
	if !slices.ContainsFunc(keys, known) {
		return setting.Errorf(s.Key, "there is no setting %s%s", s.Key, didYouMean(s.Key, keys))
	}
	return ofSetting(s.Key, s.document.Decode(config))
}

// ofSetting leaves out of an error the line, for a setting has but one.
func ofSetting(key string, err error) error {
	if err == nil {
		return nil
	}
	return &setting.Error{Key: key, Reason: errors.New(strings.ReplaceAll(err.Error(), key+":1: ", key+": "))}
}
