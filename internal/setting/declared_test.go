package setting

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

type kind string

func (kind) Values() []string { return []string{"big", "small"} }

type inner struct {
	Share float64   `yaml:"share" help:"<share> of all" range:"[0,1)"`
	Rates []float32 `yaml:"rates,flow" range:"(0,1]"`
}

type declared struct {
	Seed   uint64 `yaml:"seed" help:"<seed> of draws"`
	Kind   kind   `yaml:"kind"`
	Mode   string `yaml:"mode" values:"fast,slow"`
	Count  int    `yaml:"count" range:"[1,]"`
	On     bool   `yaml:"on"`
	Inner  inner  `yaml:"inner,omitempty"`
	Hidden int    `yaml:"-"`
	inner  `yaml:",inline"`
}

func fine() declared {
	return declared{Count: 1, Kind: "big", Mode: "slow", Inner: inner{Rates: []float32{1}}}
}

func TestDescribe_ListsSettingsInOrder(t *testing.T) {
	var keys []string
	for _, d := range Describe(&declared{}) {
		keys = append(keys, d.Key+" ("+strings.TrimSpace(d.Type()+" "+d.Limits())+")")
	}
	want := "seed (whole number) kind (text big or small) mode (text fast or slow) count (whole number at least 1) " +
		"on (true or false) inner.share (number at least 0 and less than 1) inner.rates (list of numbers more than 0 and " +
		"at most 1) share (number at least 0 and less than 1) rates (list of numbers more than 0 and at most 1)"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestCheck_NamesTheFirstSettingThatIsNotAsDeclared(t *testing.T) {
	for want, spoil := range map[string]func(*declared){
		"":                                      func(*declared) {},
		`x.kind is "huge", want big or small`:   func(d *declared) { d.Kind = "huge" },
		`x.mode is "faster", want fast or slow`: func(d *declared) { d.Mode = "faster" },
		"x.count is 0, want at least 1":         func(d *declared) { d.Count = 0 },
		"x.inner.share is 1, want at least 0 and less than 1": func(d *declared) { d.Inner.Share = 1 },
		"x.share is NaN, want at least 0 and less than 1":     func(d *declared) { d.Share = math.NaN() },
		"x.inner.rates at index 1 is 0, want more than 0 and at most 1": func(d *declared) {
			d.Inner.Rates = []float32{1, 0}
		},
	} {
		d := fine()
		spoil(&d)
		err := Check("x.", &d)
		var mistake *Error
		switch {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != want):
			t.Errorf("error %v, want %q", err, want)
		case want != "" && (!errors.As(err, &mistake) || !strings.HasPrefix(want, mistake.Key+" ")):
			t.Errorf("%v is about %q", err, mistake.Key)
		}
	}
	d := fine()
	d.Kind, d.Mode = "", ""
	if err := Check("", &d); err != nil {
		t.Errorf("texts that are not set: %v", err)
	}
}

func TestDescribe_FieldsInheritWhatTheirStructBelongsTo(t *testing.T) {
	type files struct {
		Path string `yaml:"path"`
		Size int    `yaml:"size" of:"small"`
	}
	config := struct {
		Seed  int   `yaml:"seed"`
		Named files `yaml:"named" of:"small big"`
		files `yaml:",inline" of:"big"`
	}{}
	want := map[string]string{"seed": "", "named.path": "small big", "named.size": "small", "path": "big", "size": "small"}
	for _, d := range Describe(config) {
		if got := strings.Join(d.Of, " "); got != want[d.Key] {
			t.Errorf("%s belongs to %q, want %q", d.Key, got, want[d.Key])
		}
	}
}

// Editors read the schema. It describes exactly what a file may hold.
func TestSchema_HoldsTheDeclarations(t *testing.T) {
	data, err := json.Marshal(Schema(&declared{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kind":{"enum":["","big","small"],"type":"string"}`,
		`"count":{"minimum":1,"type":"integer"}`,
		`"rates":{"items":{"exclusiveMinimum":0,"maximum":1,"type":"number"},"type":"array"}`,
		`"description":"seed of draws"`, `"additionalProperties":false`, `"on":{"type":"boolean"}`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}
