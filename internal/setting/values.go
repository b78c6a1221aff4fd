package setting

import (
	"reflect"
	"strings"
)

// Values are the single settings of a configuration, a struct with the tags of YAML or a pointer to one: what each
// is set to, by its key, such as data.noise. Sections are not among them, and neither is what no file holds.
func Values(config any) map[string]any {
	values := map[string]any{}
	addValues(values, reflect.Indirect(reflect.ValueOf(config)), "")
	return values
}

func addValues(values map[string]any, v reflect.Value, path string) {
	if v.Kind() != reflect.Struct {
		values[path] = v.Interface()
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case option == "inline": // its keys are those of the struct around it
			addValues(values, v.Field(i), path)
			continue
		case !field.IsExported() || key == "-":
			continue
		case path != "":
			key = path + "." + key
		}
		addValues(values, v.Field(i), key)
	}
}
