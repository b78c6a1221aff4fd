package setting

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

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
