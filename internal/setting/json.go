package setting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// JSON is one object with settings by their keys, such as "data.noise", from Values, in the order of the
// keys. Fractional types are always written with a point, so that readers can distinguish them from integers.
// Numbers without a form in JSON, and unset values, are null. Lists are lists, also empty ones, and structs
// within them are objects by their YAML keys.
func JSON(values map[string]any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{")
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  %q: ", key)
		if err := writeJSON(&b, reflect.ValueOf(values[key])); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return writeJSON(b, v.Elem())
		}
		b.WriteString("null")
		return nil
	case reflect.Float32, reflect.Float64:
		b.WriteString(number(v.Float(), v.Type().Bits()))
		return nil
	case reflect.Slice, reflect.Array:
		items := make([]reflect.Value, v.Len())
		for i := range items {
			items[i] = v.Index(i)
		}
		return writeAll(b, "[]", nil, items)
	case reflect.Map:
		return writeMap(b, v)
	case reflect.Struct:
		return writeStruct(b, v)
	}
	data, err := json.Marshal(v.Interface())
	b.Write(data)
	return err
}

// number has a point or an exponent.
func number(f float64, bits int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "null"
	}
	text := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

func writeMap(b *bytes.Buffer, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	names, values := make([]string, len(keys)), make([]reflect.Value, len(keys))
	for i, key := range keys {
		names[i], values[i] = fmt.Sprint(key), v.MapIndex(key)
	}
	return writeAll(b, "{}", names, values)
}

func writeStruct(b *bytes.Buffer, v reflect.Value) error {
	names, values := []string{}, []reflect.Value{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if key, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); field.IsExported() && key != "-" {
			names, values = append(names, key), append(values, v.Field(i))
		}
	}
	return writeAll(b, "{}", names, values)
}

// writeAll writes a list, or an object if its elements have names.
func writeAll(b *bytes.Buffer, around string, names []string, values []reflect.Value) error {
	b.WriteByte(around[0])
	for i, value := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		if names != nil {
			name, err := json.Marshal(names[i])
			if err != nil {
				return err
			}
			b.Write(append(name, ": "...))
		}
		if err := writeJSON(b, value); err != nil {
			return err
		}
	}
	b.WriteByte(around[1])
	return nil
}
