package setting

import (
	"reflect"
	"testing"
)

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
