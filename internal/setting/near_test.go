package setting

import "testing"

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
