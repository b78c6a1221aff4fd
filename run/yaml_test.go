package run

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/loader/augment"
	"nmn/run/document"
	"nmn/train"
)

// Runs that differ in a setting that only one of them has are different runs.
func TestConfig_LossMakesAnotherRun(t *testing.T) {
	bce, asl := DefaultConfig(), DefaultConfig()
	asl.Train.Loss = train.DefaultLoss(train.Asymmetric)
	for _, pair := range [][2]*Config{{&bce, &asl}, {&asl, &bce}} {
		if key, _, _ := FirstChange(pair[0], pair[1]); !strings.HasPrefix(key, "train.loss.") {
			t.Errorf("the first change is %q", key)
		}
	}
}

func TestConfig_AugmentationsMakeAnotherRun(t *testing.T) {
	plain, changed := DefaultConfig(), DefaultConfig()
	changed.Train.Augment = augment.Strong.Config()
	changed.Train.Augment.Erasing.Value = augment.FillNoise
	for _, pair := range [][2]*Config{{&plain, &changed}, {&changed, &plain}} {
		if key, _, _ := FirstChange(pair[0], pair[1]); !strings.HasPrefix(key, "train.augment.") {
			t.Errorf("the first change is %q", key)
		}
	}
	text, err := changed.YAML()
	expect.OK(t, err)
	read := DefaultConfig()
	if err := decodeYAML("config.yaml", text, &read); err != nil || read.Train.Augment != changed.Train.Augment {
		t.Errorf("read back as %+v, %v", read.Train.Augment, err)
	}
	if text, err = plain.YAML(); err != nil || strings.Contains(string(text), "augment") {
		t.Errorf("a run without augmentations mentions them: %v", err)
	}
	for _, area := range []string{"[.5]", "[.1, .2, .3]", ".5", "{low: 1}"} {
		err := decodeYAML("one.yaml", []byte("train:\n  augment: {random_crop: {area: "+area+"}}\n"), &read)
		if err == nil || !strings.Contains(err.Error(), "one.yaml:2: want a list of 2 values") {
			t.Errorf("the range %s: %v", area, err)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte("train: {augment: {random_crop: {area: [.08, 1]}, color_jitter: {hue: .nan}, mixup: .2}}\n"))
	f.Add([]byte("data:\n  noise: 0.2\n"))
	f.Add([]byte("train:\n  learning_rates:\n  - {pattern: head.*, multiplier: 2}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("size: quick\n---\n"))
	f.Add([]byte("train: {noise: {miss_rate: [.nan]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := DefaultConfig()
		if err := decodeYAML("fuzz.yaml", data, &c); err != nil {
			var mistake *setting.Error
			if !errors.As(err, &mistake) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not a mistake of the caller on one line", err)
			}
			return
		}
		if c.Validate() != nil {
			return
		}
		written := expect.Value(c.YAML())(t)
		var again Config
		if err := decodeYAML("again.yaml", written, &again); err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if rewritten, err := yaml.Marshal(again); err != nil || string(rewritten) != string(written) {
			t.Errorf("not the same when read back: %v\n%s\n%s", err, written, rewritten)
		}
	})
}

// decodeYAML lays a document over a configuration.
func decodeYAML(name string, data []byte, config any) error {
	file, err := document.Parse(name, data)
	if err != nil {
		return err
	}
	return file.Decode(config)
}
