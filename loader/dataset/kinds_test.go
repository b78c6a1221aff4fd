package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/loader"
)

// changed is a configuration in which one single setting, by its key, has another value than before.
func changed(t *testing.T, c Config, key string) *Config {
	t.Helper()
	value := "given"
	switch v := setting.Values(c)[key].(type) {
	case int:
		value = fmt.Sprint(v + 1)
	case uint64:
		value = fmt.Sprint(v + 1)
	case float64:
		value = fmt.Sprint(v + .25)
	case bool:
		value = fmt.Sprint(!v)
	case []string:
		value = "[given]"
	}
	text := strings.ReplaceAll(key, ".", ": {") + ": " + value + strings.Repeat("}", strings.Count(key, "."))
	expect.OK(t, yaml.Unmarshal([]byte(text), &c))
	return &c
}

// ofKind is a configuration of a kind of data on which every setting that it reads may say something.
func ofKind(set Kind) Config {
	c := DefaultConfig()
	c.Set, c.ValCaptions = set, "validation.json"
	c.Features.Validation.Features, c.Features.Test.Features = "validation.npy", "test.npy"
	return c
}

func TestConfig_TagsNameKindsOfData(t *testing.T) {
	for _, s := range setting.Describe(Config{}) {
		for _, kind := range s.Of {
			if !slices.Contains(Scenes.Values(), kind) {
				t.Errorf("data.%s is read by data of the kind %q", s.Key, kind)
			}
		}
	}
}

func TestValidate_NamesTheSettingsWithoutWhichThereAreNoData(t *testing.T) {
	for _, source := range kinds() {
		for i, key := range source.needs {
			c := DefaultConfig()
			c.Set = source.kind
			for _, given := range source.needs[:i] {
				c = *changed(t, c, given)
			}
			refuse(t, string(source.kind), c.Validate(), "data.set is "+string(source.kind)+": give `data."+key+"`")
		}
	}
	c := DefaultConfig()
	refuse(t, "no kind", c.Validate(), `data.set is ""`)
	refuseData(t, "no kind", &c, `data.set is ""`)
	c.Set, c.Images = Manifest, "folder of labels"
	if err := c.Validate(); err != nil {
		t.Errorf("a folder of pictures by label: %v", err)
	}
}

// Whether it was given by name or has another value: a setting is read, or it is refused.
func TestUnread_RefusesWhatAKindOfDataDoesNotRead(t *testing.T) {
	for _, source := range kinds() {
		kind := source.kind
		base := ofKind(kind)
		for _, r := range setting.Describe(Config{}) {
			if r.Key == "set" {
				continue
			}
			byName := base.Unread(&base, func(key string) bool { return key == "data."+r.Key })
			byValue := changed(t, base, r.Key).Unread(&base, func(string) bool { return false })
			for how, err := range map[string]error{"name": byName, "value": byValue} {
				var refused *setting.Error
				switch read := len(r.Of) == 0 || slices.Contains(r.Of, string(kind)); {
				case read && err != nil:
					t.Errorf("%s, data.%s by its %s: %v", kind, r.Key, how, err)
				case !read && !errors.As(err, &refused):
					t.Errorf("%s, data.%s by its %s: not refused (%v)", kind, r.Key, how, err)
				case !read && (refused.Key != "data."+r.Key || !strings.Contains(err.Error(), "`data."+r.Key+"`")):
					t.Errorf("%s, data.%s by its %s: the message is about %s: %v", kind, r.Key, how, refused.Key, err)
				}
			}
		}
	}
}

func TestUnread_SaysWhatWouldReadASetting(t *testing.T) {
	none := func(string) bool { return false }
	t.Chdir(t.TempDir())
	expect.OK(t, os.Mkdir("given", 0o777))
	for _, test := range []struct {
		set  Kind
		key  string
		want string
	}{
		{Scenes, "images", "`data.images` has no effect on the built-in scenes: give `data.captions` or " +
			"`data.manifest`, which have the labels of the pictures, or a folder that has them: a folder for each label with"},
		{Scenes, "features.train.labels", "give `data.features.train.features`, whose rows they belong to"},
		{Scenes, "vocabulary", "give `data.features.train.features`, `data.captions`, "},
		{Scenes, "val_captions", "give `data.captions`"},
		{Scenes, "frames_dir", "give `data.msrvtt`"},
		{Captions, "frames", "has no effect on pictures with captions (`data.captions`): give `data.set` moving-scenes"},
		{Features, "captions", "data come from one source"},
		{Captions, "val_images", "has no effect without `data.val_captions`"},
		{Features, "features.test.labels", "has no effect without `data.features.test.features`"},
	} {
		base := DefaultConfig()
		base.Set = test.set
		refuse(t, string(test.set), changed(t, base, test.key).Unread(&base, none), test.want)
	}
}

func TestUnread_SaysThatThePicturesAreNotThere(t *testing.T) {
	base := DefaultConfig()
	base.Set = Scenes
	c := base
	c.Images = filepath.Join(t.TempDir(), "picures")
	refuse(t, "no folder", c.Unread(&base, func(string) bool { return false }), "does not exist")
}

// A class of held-out pictures alone leaves the classes exclusive, and its pictures without a label to judge by.
func TestOpen_ForgetsClassesThatNoTrainingPictureHas(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1.jpg", "2.jpg", "3.jpg", "4.jpg"} {
		writeFile(t, filepath.Join(dir, name), "")
	}
	c := DefaultConfig()
	c.Set, c.Manifest, c.ValidationShare, c.TestShare = Manifest, filepath.Join(dir, "list.csv"), 0, 0
	const two = "1.jpg,cat,train\n2.jpg,dog,train\n3.jpg,emu,test\n4.jpg,dog,test\n"
	for _, test := range []struct {
		classes   Classes
		rows      string
		want      []uint8
		exclusive bool
	}{
		{AutoClasses, two, []uint8{loader.UnknownLabel, loader.UnknownLabel, 0, 1}, true},
		{Multi, two, []uint8{0, 0, 0, 1}, false},
		{AutoClasses, "1.jpg,cat,train\n2.jpg,dog,train\n3.jpg,,train\n4.jpg,emu,test\n", []uint8{0, 0}, false},
	} {
		writeFile(t, c.Manifest, "path,label,split\n"+test.rows)
		c.Classes = test.classes
		d := openedData(t, &c)
		if got := d.Test.Labels.Uint8s(); !slices.Equal(got, test.want) || (d.NotExclusive() == "") != test.exclusive {
			t.Errorf("%s, %q: labels %v, want %v; %q", test.classes, test.rows, got, test.want, d.NotExclusive())
		}
	}
}
