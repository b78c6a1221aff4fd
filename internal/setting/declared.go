package setting

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Declared is a setting as the field of its struct declares it, by tags:
//
//	TrainSize int `yaml:"train_size" help:"training <pictures> of scenes" range:"[0,]"`
//
// The tag help is one line, with a description of the value, or its unit, in angle brackets. The tag values
// lists the accepted texts, with commas between them. A type with a method Values() []string needs no tag.
// The tag range limits a number, or each number of a list: square brackets include a bound, parentheses
// exclude it, and an empty bound is none. The tag of lists, with blanks between them, what the setting belongs to.
// The fields of a struct inherit its tag of.
type Declared struct {
	Key    string
	Help   string
	Values []string // nil for any
	Of     []string // empty for everything
	Value  any      // in the configuration that was described
	limits Range
	field  reflect.Value
}

// enumerated is implemented by types of settings with few values.
type enumerated interface{ Values() []string }

// Describe lists the settings of a configuration, a struct with the tags of YAML or a pointer to one, in the order of
// their fields.
func Describe(config any) []Declared {
	return describe(nil, reflect.Indirect(reflect.ValueOf(config)), "", "")
}

// Values returns the single settings of a configuration, a struct with YAML tags or a pointer to one: the
// value of each by its key, such as data.noise. It leaves out sections and fields without a place in a file.
func Values(config any) map[string]any {
	values := map[string]any{}
	for _, d := range Describe(config) {
		values[d.Key] = d.Value
	}
	return values
}

// Paths returns the settings of a configuration, a pointer to a struct, that name a <file> or a <folder> in their help,
// by their keys. section is a prefix of the keys, as for Check.
func Paths(section string, config any) map[string]*string {
	paths := map[string]*string{}
	for _, d := range Describe(config) {
		if strings.Contains(d.Help, "<file>") || strings.Contains(d.Help, "<folder>") {
			paths[section+d.Key] = d.field.Addr().Interface().(*string)
		}
	}
	return paths
}

func describe(all []Declared, v reflect.Value, path, of string) []Declared {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		of := cmp.Or(field.Tag.Get("of"), of)
		switch {
		case option == "inline": // its keys belong to the struct around it
			all = describe(all, value, path, of)
			continue
		case !field.IsExported() || key == "-":
			continue
		case path != "":
			key = path + "." + key
		}
		if value.Kind() == reflect.Struct {
			all = describe(all, value, key, of)
			continue
		}
		d := Declared{Key: key, Help: field.Tag.Get("help"), Of: strings.Fields(of),
			Value: value.Interface(), limits: Range(field.Tag.Get("range")), field: value}
		if e, ok := value.Interface().(enumerated); ok {
			d.Values = e.Values()
		} else if tag := field.Tag.Get("values"); tag != "" {
			d.Values = strings.Split(tag, ",")
		}
		all = append(all, d)
	}
	return all
}

// Type names the kind of the values in text.
func (d *Declared) Type() string {
	t := reflect.TypeOf(d.Value)
	switch {
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Float64:
		return "range"
	case d.List() && t.Elem().Kind() != reflect.Struct:
		return "list of " + plural[nameOf(t.Elem())]
	case d.List():
		return "list"
	}
	return nameOf(t)
}

var plural = map[string]string{"text": "texts", "number": "numbers", "whole number": "whole numbers"}

func nameOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	}
	return "whole number"
}

// Plain is the help without the brackets around the description of a value.
func (d *Declared) Plain() string { return strings.NewReplacer("<", "", ">", "").Replace(d.Help) }

// List reports whether the setting has several values.
func (d *Declared) List() bool { return reflect.TypeOf(d.Value).Kind() == reflect.Slice }

// Bool reports whether the setting is true or false.
func (d *Declared) Bool() bool { return reflect.TypeOf(d.Value).Kind() == reflect.Bool }

// Limits describes the accepted values, such as "at least 0 and less than 1" or "quick or full". It is empty
// for any.
func (d *Declared) Limits() string {
	switch {
	case d.Values != nil:
		return Alternatives(d.Values)
	case d.limits == "":
		return ""
	}
	return d.limits.String()
}

// Check returns an *Error for the first setting of a configuration that is out of the range, or not among the
// values, that its field declares. A text may be empty. section is a prefix of the keys: "train." for a
// configuration that is the section train of another one, or empty.
func Check(section string, config any) error {
	for _, d := range Describe(config) {
		if err := d.Check(); err != nil {
			key := section + d.Key
			return &Error{Key: key, Reason: fmt.Errorf("%s %w", key, err)}
		}
	}
	return nil
}

// Check returns an error, which does not name the setting, if the value is out of the declared range or not
// among the declared values.
func (d *Declared) Check() error {
	v := reflect.ValueOf(d.Value)
	switch {
	case d.Values != nil:
		return d.checkValue(v)
	case d.limits == "":
		return nil
	case d.List():
		for i := range v.Len() {
			if err := d.limits.check(v.Index(i)); err != nil {
				return fmt.Errorf("at index %d %w", i, err)
			}
		}
		return nil
	}
	return d.limits.check(v)
}

func (d *Declared) checkValue(v reflect.Value) error {
	if v.String() == "" || slices.Contains(d.Values, v.String()) {
		return nil
	}
	return fmt.Errorf("is %q, want %s", v.String(), Alternatives(d.Values))
}

// Range is a range of numbers in the form of the tag range, such as "[0,1)".
type Range string

// interval is a range as it is read.
type interval struct {
	low, high         string // as declared; empty for no bound
	lowOpen, highOpen bool   // without the bound itself
}

func (r Range) bounds() interval {
	low, high, _ := strings.Cut(string(r[1:len(r)-1]), ",")
	return interval{low: low, high: high, lowOpen: r[0] == '(', highOpen: strings.HasSuffix(string(r), ")")}
}

func (r Range) check(v reflect.Value) error {
	var x float64
	switch {
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	default:
		x = v.Float()
	}
	if r.Holds(x) {
		return nil
	}
	return fmt.Errorf("is %v, want %s", v.Interface(), r)
}

// Holds reports whether a number is in the range.
func (r Range) Holds(x float64) bool {
	b := r.bounds()
	low, _ := strconv.ParseFloat(b.low, 64) // a test of the declarations reads all bounds
	high, _ := strconv.ParseFloat(b.high, 64)
	return x == x && (b.low == "" || x > low || x == low && !b.lowOpen) &&
		(b.high == "" || x < high || x == high && !b.highOpen)
}

// String is the range in words.
func (r Range) String() string {
	b := r.bounds()
	var parts []string
	if b.low != "" {
		parts = append(parts, map[bool]string{false: "at least ", true: "more than "}[b.lowOpen]+b.low)
	}
	if b.high != "" {
		parts = append(parts, map[bool]string{false: "at most ", true: "less than "}[b.highOpen]+b.high)
	}
	return strings.Join(parts, " and ")
}

// Alternatives lists the values that a setting may have, for messages: a, b or c.
func Alternatives[T ~string](all []T) string {
	names := Texts(all)
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Texts are the values as plain texts.
func Texts[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = string(a)
	}
	return texts
}
