package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
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

func TestValues_AreThoseOfSingleSettings(t *testing.T) {
	type rate struct {
		Share float64 `yaml:"share"`
	}
	type section struct {
		First []int `yaml:"first,flow"`
		rate  `yaml:",inline"`
		Rate  rate `yaml:"rate"`
	}
	config := struct {
		Data   section `yaml:"data,omitempty"`
		Hidden int     `yaml:"-"`
	}{Data: section{First: []int{3}, Rate: rate{.5}}}
	want := map[string]any{"data.first": []int{3}, "data.share": 0., "data.rate.share": .5}
	if got := Values(&config); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestErrorf_NamesTheSettingAndKeepsTheCause(t *testing.T) {
	err := fmt.Errorf("run: %w", Errorf("data.noise_file", "no rates in %q: %w", "q.csv", fs.ErrNotExist))
	var mistake *Error
	if !errors.As(err, &mistake) || mistake.Key != "data.noise_file" || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %#v", err)
	}
	if got, want := err.Error(), `run: no rates in "q.csv": file does not exist`; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestAlternatives_ReadsAsAList(t *testing.T) {
	type arm string
	for want, all := range map[string][]arm{
		"baseline": {"baseline"}, "baseline or plain": {"baseline", "plain"},
		"baseline, plain or noisy": {"baseline", "plain", "noisy"},
	} {
		if got := Alternatives(all); got != want {
			t.Errorf("%q become %q, want %q", all, got, want)
		}
	}
}

func TestNear_FindsWhatWasMeant(t *testing.T) {
	keys := []string{"data.noise", "data.noise_seed", "data.train_size", "train.learning_rate", "train.noise.miss_rate",
		"arm"}
	for written, want := range map[string]string{
		"data.nois":           "data.noise",
		"data.trainsize":      "data.train_size",
		"train_size":          "data.train_size",
		"trainSize":           "data.train_size",
		"learning_rate":       "train.learning_rate",
		"data.learning-rate":  "train.learning_rate",
		"train.learning_rat":  "train.learning_rate",
		"train.miss_rate":     "train.noise.miss_rate",
		"arms":                "arm",
		"optimiser.something": "",
		"nois":                "data.noise",
		"x":                   "",
		"":                    "",
	} {
		if got := Near(written, keys); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

func TestKeysIn_AreThoseOfSingleSettings(t *testing.T) {
	type section struct {
		Size int `yaml:"size"`
	}
	got := KeysIn(struct {
		Data section `yaml:"data"`
	}{})
	if len(got) != 1 || got[0] != "data.size" {
		t.Errorf("%q", got)
	}
}

// A configuration reads back with the kinds that its settings have.
func TestJSON_KeepsKinds(t *testing.T) {
	type named string
	type item struct {
		Path  string  `yaml:"path"`
		Share float32 `yaml:"share"`
		inner int
	}
	type section struct {
		Rate    float64        `yaml:"rate"`
		Count   int            `yaml:"count"`
		Limit   uint64         `yaml:"limit"`
		On      bool           `yaml:"on"`
		Words   []string       `yaml:"words"`
		Steps   []float64      `yaml:"steps"`
		Items   []item         `yaml:"items"`
		Weights map[string]int `yaml:"weights"`
		Size    [2]int         `yaml:"size"`
		Unset   *int           `yaml:"unset"`
		Hidden  int            `yaml:"-"`
	}
	count := 7
	config := struct {
		Name named   `yaml:"name"`
		Data section `yaml:"data,omitempty"`
		Far  float64 `yaml:"far"`
		Set  *int    `yaml:"set"`
	}{Name: "1\"\n", Far: math.Inf(1), Set: &count, Data: section{Rate: 2, Limit: math.MaxUint64, On: true,
		Steps: []float64{1, 1e-30}, Items: []item{{"a", .1, 3}}, Weights: map[string]int{"b": 2, "a": 1}, Size: [2]int{3, 4}}}
	data, err := JSON(Values(&config))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "data.count": 0,
  "data.items": [{"path": "a", "share": 0.1}],
  "data.limit": 18446744073709551615,
  "data.on": true,
  "data.rate": 2.0,
  "data.size": [3, 4],
  "data.steps": [1.0, 1e-30],
  "data.unset": null,
  "data.weights": {"a": 1, "b": 2},
  "data.words": [],
  "far": null,
  "name": "1\"\n",
  "set": 7
}
`
	if string(data) != want || !json.Valid(data) {
		t.Errorf("%s\nwant %s", data, want)
	}
	if _, err := JSON(map[string]any{"f": func() {}}); err == nil || !strings.HasPrefix(err.Error(), "f: ") {
		t.Errorf("what is no setting: %v", err)
	}
}
