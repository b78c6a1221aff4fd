package setting

import (
	"reflect"
	"strings"
)

// Keys are the keys of the settings of a configuration in memory, such as data.noise, by where they lie.
type Keys map[address]string

// address is where a setting lies. A section has the address of its first setting: the type tells them apart.
type address struct {
	at uintptr
	of reflect.Type
}

// KeysOf finds the keys of a configuration, a pointer to a struct with the tags of YAML. They hold as long as it
// stays where it is.
func KeysOf(config any) Keys {
	keys := Keys{}
	keys.add(reflect.ValueOf(config).Elem(), "")
	return keys
}

func (k Keys) add(v reflect.Value, path string) {
	k[address{v.Addr().Pointer(), v.Type()}] = path
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case option == "inline": // its keys are those of the struct around it
			k.add(v.Field(i), path)
			continue
		case !field.IsExported() || key == "-":
			continue
		case path != "":
			key = path + "." + key
		}
		k.add(v.Field(i), key)
	}
}

// At is the key of what a pointer points to; empty where it is no setting of the configuration.
func (k Keys) At(pointer any) string {
	v := reflect.ValueOf(pointer)
	return k[address{v.Pointer(), v.Type().Elem()}]
}
