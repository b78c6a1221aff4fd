package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/loader/shard"
)

func smallJPEG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
	return b.Bytes()
}

// framesOfClips is a folder of frames of clips: as many of each as the place of the clip, from 1.
func framesOfClips(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "frames")
	w, err := shard.Create(dir, shard.Config{ShardBytes: 1 << 20, Settings: []byte(`{"frames":5,"size":8}`)})
	expect.OK(t, err)
	defer w.Close()
	for i, name := range names {
		record := &shard.Record{Clip: name, Width: 8, Height: 8, PictureWidth: 8, PictureHeight: 8, Decoded: i + 1,
			Frames: make([]shard.Frame, i+1)}
		var pictures [][]byte
		for at := range record.Frames {
			record.Frames[at].Number = at
			pictures = append(pictures, smallJPEG(t))
		}
		expect.OK(t, w.Add(record, pictures))
	}
	expect.OK(t, w.Finish())
	return dir
}

func fileOf(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	writeFile(t, path, content)
	return path
}

// tableConfig configures a table of clips without held-out clips.
func tableConfig(table, images string) *Config {
	c := DefaultConfig()
	c.Set, c.Manifest, c.Images, c.VocabularySize = Manifest, table, images, MaxClasses
	c.ValidationShare, c.TestShare = 0, 0
	return &c
}

// clipsOf returns the number of frames and the labels of each training clip.
func clipsOf(t *testing.T, c *Config) (rows []string) {
	t.Helper()
	d := openedData(t, c)
	k := d.Train.Vocabulary.Len()
	for i := range d.Train.Len() {
		var labels []string
		for class, z := range d.Train.Labels.Uint8s()[i*k : (i+1)*k] {
			if z == 1 {
				labels = append(labels, d.Train.Vocabulary.Word(class).Text)
			}
		}
		slices.Sort(labels)
		rows = append(rows, fmt.Sprintf("%d %s", d.Train.Source.Frames(i), strings.Join(labels, "+")))
	}
	if taking := d.Taking; taking == nil || taking.Frames != 5 && taking.Frames != 3 {
		t.Errorf("frames were taken as %+v", taking)
	}
	files, err := d.Files(t.Context(), true)
	if err != nil || len(files) < 2 {
		t.Errorf("the data are %d files, %v", len(files), err)
	}
	return rows
}

// Every form that a table of pictures has is one of clips, whose frames are found by name.
func TestOpen_TablesOfClipsInEveryForm(t *testing.T) {
	want := []string{"2 cat+dog", "1 dog", "3 cat"}
	frames := framesOfClips(t, "in/a.mp4", "in/b.mkv", "in/c.webm")
	for name, table := range map[string]string{
		"list.csv":       "clip,labels\nin/b.mkv,dog;cat\nin/a.mp4,dog\nin/c.webm,cat\n",
		"commas.csv":     "video,tags\nb,\"cat,dog\"\na,dog\nc,cat\n",
		"indicators.csv": "path,cat,dog\nb.mkv,1,1\na,0,1\nc,1,0\n",
		"ids.csv":        "id,labels\nb,dog;cat\na,dog\nc,cat\n",
		"json.csv":       "clip,labels\nb,\"[\"\"dog\"\", \"\"cat\"\"]\"\na,\"[\"\"dog\"\"]\"\nc,\"[\"\"cat\"\"]\"\n",
		"lines.jsonl": `{"path":"b.mkv","labels":["dog","cat"]}` + "\n" + `{"path":"a","labels":["dog"]}` + "\n" +
			`{"path":"c","labels":["cat"]}` + "\n",
	} {
		table := fileOf(t, t.TempDir(), name, table)
		c := tableConfig(table, frames)
		if name == "commas.csv" {
			c.LabelForm = manifest.FormCommas // three rows are too few to see it
		}
		if got := clipsOf(t, c); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	numbers := tableConfig(fileOf(t, t.TempDir(), "numbers.csv", "clip,label\nb,2\na,0\nc,1\n"), frames)
	if got := clipsOf(t, numbers); !slices.Equal(got, []string{"2 2", "1 0", "3 1"}) {
		t.Errorf("numbers of classes: %q", got)
	}
	splits := tableConfig(fileOf(t, t.TempDir(), "s.csv", "clip,labels,split\nb,dog,train\na,dog,test\nc,cat,train\n"),
		frames)
	if got := clipsOf(t, splits); !slices.Equal(got, []string{"2 dog", "3 cat"}) {
		t.Errorf("with a column split: %q", got)
	}
}

func TestOpen_FoldersOfClipsAreLabels(t *testing.T) {
	frames := framesOfClips(t, "cat/1.mp4", "dog/1.mp4", "dog/2.mkv")
	if found, err := Recognise(t.Context(), frames, ""); err != nil || found.Kind != Manifest {
		t.Errorf("recognised as %+v, %v", found, err)
	}
	want := []string{"1 cat", "2 dog", "3 dog"}
	for _, c := range []*Config{tableConfig(frames, ""), tableConfig("", frames)} {
		if got := clipsOf(t, c); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	frames = framesOfClips(t, "test/cat/1.mp4", "train/dog/1.mp4", "train/dog/2.mkv")
	if got := clipsOf(t, tableConfig(frames, "")); !slices.Equal(got, []string{"2 dog", "3 dog"}) {
		t.Errorf("below splits: %q", got)
	}
}

// Correcting labels reads the table again.
func TestReadManifest_OfClips(t *testing.T) {
	frames := framesOfClips(t, "a.mp4", "b.mp4")
	c := tableConfig(fileOf(t, t.TempDir(), "t.csv", "clip,labels\nb,dog\na,cat\n"), frames)
	m, err := ReadManifest(t.Context(), c, Options{})
	if err != nil || m.Folder != frames || m.Form != manifest.FormSingle || m.Rows[0].ID != "b" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestOpen_ClipsThatAreNotThere(t *testing.T) {
	frames := framesOfClips(t, "x/a.mp4", "x/b.mp4", "y/a.mp4")
	for content, want := range map[string][]string{
		"clip,labels\nb,dog\nc,cat\n":     {"1 of 2 rows without frames", "t.csv, line 3", `"c"`, "`data.max_bad_samples`"},
		"clip,labels\nb,dog\na,cat\n":     {"line 3", "several clips", `"x/a.mp4" and "y/a.mp4"`},
		"clip,labels\nb,dog\nb.mp4,cat\n": {"line 2 and line 3", `"x/b.mp4"`, "remove one"},
	} {
		c := tableConfig(fileOf(t, t.TempDir(), "t.csv", content), frames)
		c.MinCount = 1
		refuseData(t, content, c, want...)
	}
	some := tableConfig(fileOf(t, t.TempDir(), "t.csv", "clip,labels\nb,dog\nc,cat\ny/a,dog\n"), frames)
	some.MaxBadSamples = 1
	if got := clipsOf(t, some); !slices.Equal(got, []string{"2 dog", "3 dog"}) {
		t.Errorf("one that may be left out: %q", got)
	}
	flat := framesOfClips(t, "a.mp4")
	refuseData(t, "clips without labels", tableConfig(flat, ""), `"a.mp4,dog;grass"`, loader.ClipLabelsExample)
	own := DefaultConfig()
	own.Set, own.Clips = Clips, flat
	refuseData(t, "no file of labels", &own, loader.ClipLabelsExample)
	own.ClipLabels = fileOf(t, t.TempDir(), "t.csv", "clip,labels\na,dog\n")
	refuseData(t, "a table in the place of labels", &own, loader.ClipLabelsExample, "`data.images`")
}

// Videos are known by their names or their first bytes, before anything is decoded.
func TestOpen_VideosWithoutFrames(t *testing.T) {
	const matroska = "\x1a\x45\xdf\xa3 and more"
	for name, c := range map[string]struct {
		files        []string
		table        string
		video, clips string // location of the table or the folder
	}{
		"beside":       {[]string{"a.mkv", "b.mkv"}, "clip,labels\na.mkv,dog\nb.mkv,cat\n", "a.mkv", ""},
		"below":        {[]string{"v/a.mkv", "v/b.mkv"}, "path,labels\nv/a.mkv,dog\nv/b.mkv,cat\n", "v/a.mkv", "v"},
		"by name":      {[]string{"v/a.mkv", "v/b.mkv"}, "id,labels\na,dog\nb,cat\n", "a", ""},
		"by bytes":     {[]string{"v/one", "v/two"}, "path,labels\nv/one,dog\nv/two,cat\n", "v/one", "v"},
		"label tree":   {[]string{"dog/a.mkv", "cat/b.MKV"}, "", "cat/b.MKV", ""},
		"some of many": {[]string{"v/a.mkv", "w/b.mkv"}, "path,labels\nv/a.mkv,dog\nw/b.mkv,cat\n", "v/a.mkv", ""},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		for _, file := range c.files {
			fileOf(t, dir, file, matroska)
		}
		config := tableConfig(dir, "")
		if c.table != "" {
			config.Manifest = fileOf(t, dir, "t.csv", c.table)
		}
		_, err := Open(t.Context(), config, Options{})
		clips := filepath.Join(dir, c.clips)
		var found *VideoError
		if !errors.As(err, &found) || found.Video != c.video || found.Clips != clips || found.Frames != clips+"-frames" ||
			found.Format != "Matroska or WebM" || found.Table != (c.table != "") {
			t.Errorf("%s: %v, %+v", name, err, found)
		}
	}
	dir := filepath.Join(t.TempDir(), "set")
	fileOf(t, dir, "a.mkv", matroska)
	refuseData(t, "videos without labels", tableConfig(dir, ""), `"a.mkv,dog;grass"`)
	table := fileOf(t, dir, "t.csv", "path,labels\nb.mkv,dog\n")
	refuseData(t, "a video that is not there", tableConfig(table, ""), "b.mkv")
	refuseData(t, "a folder that is not there", tableConfig(table, filepath.Join(dir, "none")), "none")
	fileOf(t, dir, "clip/1.jpg", "")
	table = fileOf(t, dir, "t.csv", "path,labels\nclip,dog\n")
	refuseData(t, "a folder of frames", tableConfig(table, ""), `"clip" is a folder`, "a/1.jpg;a/2.jpg")
	fileOf(t, dir, "2.jpg", string(smallJPEG(t)))
	some := tableConfig(fileOf(t, dir, "t.csv", "path,labels\nclip,dog\n2.jpg,dog\n"), "")
	some.MaxBadSamples = 1
	if d, err := Open(t.Context(), some, Options{}); err != nil || d.Train.Len() != 1 {
		t.Errorf("a folder that may be left out: %v", err)
	}
	fileOf(t, dir, "2.mkv", matroska)
	stem := tableConfig(fileOf(t, dir, "t.csv", "path,labels\n2,dog\n"), "")
	if d, err := Open(t.Context(), stem, Options{}); err != nil || d.Train.Len() != 1 {
		t.Errorf("a picture with the name of a video: %v", err)
	}
}
