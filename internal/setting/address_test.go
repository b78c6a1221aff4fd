package setting

import "testing"

func TestKeys_AreThoseOfWhatAPointerPointsTo(t *testing.T) {
	type rate struct {
		Share float64 `yaml:"share"`
	}
	type section struct {
		First int `yaml:"first"`
		rate  `yaml:",inline"`
	}
	var c struct {
		Data   section `yaml:"data,omitempty"`
		Hidden int     `yaml:"-"`
		Name   string  `yaml:"name"`
	}
	keys, other := KeysOf(&c), 0
	for _, test := range []struct {
		pointer any
		want    string
	}{{&c.Data, "data"}, {&c.Data.First, "data.first"}, {&c.Data.Share, "data.share"}, {&c.Name, "name"},
		{&c.Hidden, ""}, {&other, ""}} {
		if got := keys.At(test.pointer); got != test.want {
			t.Errorf("%T has the key %q, want %q", test.pointer, got, test.want)
		}
	}
}
