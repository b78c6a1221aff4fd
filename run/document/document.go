package document

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"nmn/internal/input"
	"nmn/internal/setting"
)

// Bounds on a configuration file, which may be a pipe.
const (
	configLimit = 1 << 20 // bytes
	configWait  = time.Minute
)

// Document is a YAML file of settings that has been parsed once.
type Document struct {
	name string     // for messages
	root *yaml.Node // nil for an empty file
}

// Read reads and parses a configuration, from a file or from a pipe that gives it within a minute. Whatever is
// wrong with it is a mistake of the caller.
func Read(path string) (*Document, error) {
	ctx, cancel := context.WithTimeout(context.Background(), configWait)
	defer cancel()
	f, err := input.OpenStream(ctx, path)
	if err != nil {
		return nil, setting.Errorf("", "cannot read the configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, configLimit+1))
	if err != nil {
		return nil, setting.Errorf("", "cannot read the configuration: %w", err)
	}
	if len(data) > configLimit {
		return nil, setting.Errorf("", "%s: larger than %d bytes: this is not a configuration file", path, configLimit)
	}
	return Parse(path, data)
}

// Parse parses one YAML document; name is for messages.
func Parse(name string, data []byte) (*Document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	switch err := decoder.Decode(&node); {
	case errors.Is(err, io.EOF): // an empty file
		return &Document{name: name}, nil
	case err != nil:
		return nil, &setting.Error{Reason: yamlError(name, err)}
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, setting.Errorf("", "%s: more than one YAML document: a configuration is one", name)
	}
	if len(node.Content) == 0 {
		return &Document{name: name}, nil
	}
	return &Document{name, node.Content[0]}, nil
}

// Decode lays the values of the document over those in config, a pointer to a struct. A key that config does not
// have is an error with its line, and so is a value of another type.
func (d *Document) Decode(config any) error {
	if d.root == nil {
		return nil
	}
	faults := unknownKeys(d.root, reflect.TypeOf(config), nil, setting.KeysIn(config))
	if len(faults) > 0 {
		return &setting.Error{Reason: yamlError(d.name, &yaml.TypeError{Errors: faults})}
	}
	if err := d.root.Decode(config); err != nil {
		return &setting.Error{Reason: yamlError(d.name, err)}
	}
	return nil
}

// Has reports whether the document sets a key, such as data.noise, to anything but nothing.
func (d *Document) Has(key string) bool {
	n := d.find(key)
	return n != nil && !(n.Kind == yaml.ScalarNode && n.Value == "")
}

// Text returns the value of a key; empty if there is none.
func (d *Document) Text(key string) string {
	if n := d.find(key); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// Place returns where the document sets a key, as file:line; empty if it does not.
func (d *Document) Place(key string) string {
	if n := d.find(key); n != nil {
		return fmt.Sprintf("%s:%d", d.name, n.Line)
	}
	return ""
}

// find looks a key up; nil if there is none.
func (d *Document) find(key string) *yaml.Node {
	n := d.root
	for name := range strings.SplitSeq(key, ".") {
		n = mappingOf(n)
		if n == nil {
			return nil
		}
		at := -1
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				at = i + 1
			}
		}
		if at < 0 {
			return nil
		}
		n = n.Content[at]
	}
	return n
}

// mappingOf is the mapping that a node is, or is an alias of; nil for none.
func mappingOf(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// unknownKeys lists the keys of a node that a type does not have, and lists of another length than the type's, as
// faults with their lines. Nodes that it is inside of are in within: an alias may name one of them. keys are all keys;
// one of them may have been meant. A single value where the type has a list becomes a list of one.
func unknownKeys(n *yaml.Node, t reflect.Type, within []*yaml.Node, keys []string) (faults []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if slices.Contains(within, n) {
		return nil // decoding refuses it
	}
	within = append(within, n)
	switch {
	case t.Kind() == reflect.Array && (n.Kind != yaml.SequenceNode || len(n.Content) != t.Len()):
		return []string{fmt.Sprintf("line %d: want a list of %d values", n.Line, t.Len())}
	case n.Kind == yaml.ScalarNode && n.Value != "" && n.Tag != "!!null" && t.Kind() == reflect.Slice:
		value := *n
		*n = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{&value}, Line: n.Line}
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			faults = append(faults, unknownKeys(item, t.Elem(), within, keys)...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		fields := yamlFields(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, ok := fields[key.Value]
			if !ok && key.Tag != "!!merge" {
				faults = append(faults, fmt.Sprintf("line %d: unknown key %q%s", key.Line, key.Value, didYouMean(key.Value, keys)))
				continue
			}
			if ok {
				faults = append(faults, unknownKeys(n.Content[i+1], field, within, keys)...)
			}
		}
	}
	return faults
}

// didYouMean suggests the nearest of the keys; empty if none is near.
func didYouMean(key string, keys []string) string {
	near := setting.Near(key, keys)
	if near == "" {
		return ""
	}
	return "; did you mean " + near + "?"
}

// yamlFields are the types of a struct's fields by their keys.
func yamlFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			maps.Copy(fields, yamlFields(f.Type))
			continue
		case key == "-" || !f.IsExported():
			continue
		}
		key = cmp.Or(key, strings.ToLower(f.Name))
		fields[key] = f.Type
	}
	return fields
}

var (
	wrongType  = regexp.MustCompile(`^line (\d+): cannot unmarshal !!\S+ (.*) into (.*)$`)
	otherFault = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
)

// yamlError says each fault as file:line: fault, all on one line.
func yamlError(name string, err error) error {
	faults := []string{err.Error()}
	var types *yaml.TypeError
	if errors.As(err, &types) {
		faults = types.Errors
	}
	told := make([]string, len(faults))
	for i, fault := range faults {
		told[i] = yamlFault(name, strings.ReplaceAll(fault, "\n", " "))
	}
	return errors.New(strings.Join(told, "; "))
}

func yamlFault(name, fault string) string {
	if m := wrongType.FindStringSubmatch(fault); m != nil {
		return fmt.Sprintf("%s:%s: %s is not %s", name, m[1], strings.ReplaceAll(m[2], "`", `"`), article(m[3]))
	}
	if m := otherFault.FindStringSubmatch(fault); m != nil {
		return fmt.Sprintf("%s:%s: %s", name, m[1], m[2])
	}
	return fmt.Sprintf("%s: %s", name, strings.TrimPrefix(fault, "yaml: "))
}

// article names a Go type for people.
func article(goType string) string {
	switch {
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case strings.HasPrefix(goType, "float"):
		return "a number"
	case goType == "time.Duration":
		return "a duration such as 7m or 30s"
	case strings.HasPrefix(goType, "["):
		return "a list"
	case goType == "string":
		return "text"
	}
	return "a section of keys"
}
