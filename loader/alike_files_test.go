package loader

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// é as one letter, and as e with an accent.
const composed, decomposed = "\u00e9", "e\u0301"

func TestAlikeFiles_InTheOtherNormalForm(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"Caf" + decomposed + "/" + composed + ".jpg", "Caf" + decomposed + "/x.mp4", "b/Th" +
		decomposed + ".png", "b/th" + composed + ".PNG", "a/A.jpg"} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, nil, 0o644))
	}
	if _, err := os.Stat(filepath.Join(dir, "Caf"+composed)); err == nil {
		t.Skip("the file system compares names in one normal form")
	}
	in := "Caf" + decomposed + "/"
	alike := NewAlikeFiles(dir)
	for path, want := range map[string][]string{
		"Caf" + composed + "/" + decomposed + ".jpg": {in + composed + ".jpg"},
		"CAF" + composed + "/" + decomposed + ".JPG": {in + composed + ".jpg"},
		in + decomposed:                    {in + composed + ".jpg"},
		"Caf" + composed + "/x.mp4":        {in + "x.mp4"},
		"b/TH" + composed + ".png":         {"b/Th" + decomposed + ".png", "b/th" + composed + ".PNG"},
		"B/a.jpg":                          nil,
		"A/a.JPG":                          {"a/A.jpg"},
		"A/a":                              nil, // names without ending keep their case
		"none/none/1.jpg":                  nil,
		"a/A.jpg/1.jpg":                    nil,
		filepath.ToSlash(dir) + "/A/a.jpg": {filepath.ToSlash(dir) + "/a/A.jpg"},
		filepath.ToSlash(dir) + "/Caf" + composed + "/x.mp4": {filepath.ToSlash(dir) + "/" + in + "x.mp4"},
	} {
		got, err := alike.Find(path)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+q: %+q, %v; want %+q", path, got, err, want)
		}
	}
}

func TestSplitByIDs_InTheOtherNormalForm(t *testing.T) {
	set := &Set{Name: "s", IDs: []string{"Caf" + composed, "Th" + decomposed, "x"}}
	parts, err := SplitByIDs(set, []string{"Th" + composed, "x"}, []string{"Caf" + decomposed})
	if err != nil || !slices.Equal(parts[0].IDs, []string{"Th" + decomposed, "x"}) || parts[1].IDs[0] != set.IDs[0] {
		t.Errorf("%v, %v", parts, err)
	}
	if _, err := SplitByIDs(set, []string{"Caf" + composed, "Caf" + decomposed}); err == nil {
		t.Error("one bag is listed twice, in both forms")
	}
}

// Tables often name pictures from one folder above the folder that is given.
func TestAlikeFiles_RepeatTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "pics")
	for _, file := range []string{"1.png", "1.PNG", "pics/2.png", "Sub/3.png"} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, nil, 0o644))
	}
	alike := NewAlikeFiles(dir)
	for path, want := range map[string]string{"pics/1.png": "1.png", "data/pics/1.png": "1.png", "pics/1.PNG": "1.PNG",
		"pics/2.png": "pics/2.png", "pics/sub/3.png": "Sub/3.png", "other/1.png": "", "ics/1.png": ""} {
		got, err := alike.Find(path)
		if err != nil || len(got) > 1 || want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}
