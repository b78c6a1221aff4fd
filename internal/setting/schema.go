package setting

import (
	"reflect"
	"strconv"
	"strings"
)

// Schema returns a JSON schema of a configuration's files, with which editors complete and check them.
func Schema(config any) map[string]any {
	root := object()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	for _, d := range Describe(config) {
		at := root
		names := strings.Split(d.Key, ".")
		for _, name := range names[:len(names)-1] {
			properties := at["properties"].(map[string]any)
			if properties[name] == nil {
				properties[name] = object()
			}
			at = properties[name].(map[string]any)
		}
		at["properties"].(map[string]any)[names[len(names)-1]] = d.schema()
	}
	return root
}

func object() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
}

func (d *Declared) schema() map[string]any {
	t := reflect.TypeOf(d.Value)
	item, kind := map[string]any{}, t
	if d.List() || t.Kind() == reflect.Array {
		kind = t.Elem()
	}
	switch kind.Kind() {
	case reflect.Bool:
		item["type"] = "boolean"
	case reflect.Float32, reflect.Float64:
		item["type"] = "number"
	case reflect.String:
		item["type"] = "string"
	case reflect.Struct, reflect.Pointer:
		item["type"] = "object"
	default:
		item["type"] = "integer"
	}
	if d.Values != nil {
		item["enum"] = append([]string{""}, d.Values...)
	}
	if d.limits != "" {
		r := d.limits.bounds()
		r.add(item, r.low, "minimum", "exclusiveMinimum", r.lowOpen)
		r.add(item, r.high, "maximum", "exclusiveMaximum", r.highOpen)
	}
	if kind != t {
		item = map[string]any{"type": "array", "items": item}
	}
	if d.Help != "" {
		item["description"] = d.Plain()
	}
	return item
}

func (interval) add(item map[string]any, bound, closed, open string, isOpen bool) {
	if v, err := strconv.ParseFloat(bound, 64); err == nil {
		if isOpen {
			closed = open
		}
		item[closed] = v
	}
}
