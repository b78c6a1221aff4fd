package dataset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/manifest"
	"nmn/loader/scenes"
	"nmn/text"
	_ "nmn/text/english"
)

// A table of captions is data like COCO's file: its pictures are the bags, also in lists of identifiers.
func TestOpen_TableOfCaptions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string { return fileOf(t, dir, name, content) }
	for _, name := range []string{"7.jpg", "8.JPG", "9.jpg"} {
		write(name, "")
	}
	c := DefaultConfig()
	c.Set, c.Images, c.MinCount, c.KeepFunctionWords = Captions, dir, 1, false
	c.ValidationIDs, c.ValidationShare, c.TestShare = write("val.ids", "8.jpg\n"), 0, 0
	for name, content := range map[string]string{
		"captions.txt": "image,caption\n7.jpg,\"A dog, and a cat\"\n8.jpg,A dog\n9.jpg,A cat\n",
		"results.csv":  "image_name| comment_number| comment\n7.jpg| 0| A dog and a cat\n8.jpg| 0| A dog\n9.jpg| 0| A cat\n",
		"all.token":    "7.jpg#0\tA dog , and a cat\n8.jpg#0\tA dog\n9.jpg#0\tA cat\n",
	} {
		c.Captions = write(name, content)
		d := openedData(t, &c)
		if !slices.Equal(d.Train.IDs, []string{"7.jpg", "9.jpg"}) || !slices.Equal(d.Validation.IDs, []string{"8.jpg"}) ||
			d.Train.Vocabulary.Len() != 2 || !slices.Equal(d.Train.Labels.Uint8s(), []uint8{1, 1, 1, 0}) {
			t.Errorf("%s: %v and %v, labels %v of %v", name, d.Train.IDs, d.Validation.IDs, d.Train.Labels.Uint8s(),
				d.Train.Vocabulary.Texts())
		}
		if file, ok := d.PictureFile("8.jpg"); !ok || file.Name != "8.JPG" {
			t.Errorf("%s: the picture of 8.jpg is %v", name, file)
		}
	}
	c.Captions = write("v.json", `{"videos": [{"video_id": "a", "split": "train"}], "sentences": []}`)
	refuseData(t, "captions of clips", &c, "data.msrvtt")
	lists := captionIDs([]string{"000000000042.jpg", "7.jpg"}, []string{"42", "7.jpg"})
	if !slices.Equal(lists, []string{"42", "7.jpg"}) {
		t.Errorf("lists name %v", lists)
	}
}

// Rows of features may have captions: by order, or by the names of the pictures. The words are the labels.
func TestOpen_FeaturesWithCaptions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string { return fileOf(t, dir, name, content) }
	c := DefaultConfig()
	c.Set, c.MinCount, c.ValidationShare, c.TestShare = Features, 1, 0, 0
	c.Features.Train.Captions = write("pairs.csv", "image,caption\n7.jpg,dog\n8.jpg,cat\n7.jpg,dog cat\n9.jpg,cat\n")
	for name, content := range map[string]string{"order.csv": "a\n7\n8\n9\n",
		"names.csv": "id,a\n9.jpg,9\n1.jpg,1\n7.jpg,7\n8.jpg,8\n"} {
		c.Features.Train.Features = write(name, content)
		d := openedData(t, &c)
		if !slices.Equal(d.Train.IDs, []string{"7.jpg", "8.jpg", "9.jpg"}) || len(d.Train.CaptionsInUse[0]) != 2 ||
			!slices.Equal(d.Train.Vocabulary.Texts(), []string{"cat", "dog"}) ||
			!slices.Equal(d.Train.Labels.Uint8s(), []uint8{1, 1, 1, 0, 1, 0}) || !c.Captioned() {
			t.Errorf("%s: %v, labels %v of %v", name, d.Train.IDs, d.Train.Labels.Uint8s(), d.Train.Vocabulary.Texts())
		}
		for bag, want := range []float32{7, 8, 9} {
			x := make([]float32, 1)
			if err := d.Train.Vectors.Read(t.Context(), bag, 0, x); err != nil || x[0] != want {
				t.Errorf("%s: row %d is %v, want %v (%v)", name, bag, x, want, err)
			}
		}
	}
	c.Features.Train.Features = write("two.csv", "a\n7\n8\n")
	refuseData(t, "rows in order", &c, "two.csv has 2 rows", "pairs.csv has 3 pictures", "data.features.ids")
	c.Features.Train.Features = write("other.csv", "id,a\n7.jpg,7\n8.jpg,8\n")
	refuseData(t, "named rows", &c, `other.csv has no row for picture "9.jpg"`)
}

// A folder has both pictures and captions. A run on it belongs to its text files, too.
func TestOpen_FolderOfPicturesAndTexts(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"7.jpg": "", "7.txt": "A dog\nTwo dogs\n", "a/8.jpg": "",
		"a/8.txt": "A cat\n", "9.jpg": ""} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	c := DefaultConfig()
	c.Set, c.Captions, c.MinCount, c.KeepFunctionWords, c.ValidationShare, c.TestShare = Captions, dir, 1, false, 0, 0
	d := openedData(t, &c)
	if words := d.Train.Vocabulary.Texts(); !slices.Equal(d.Train.IDs, []string{"7.jpg", "a/8.jpg"}) ||
		!slices.Contains(words, "dog") || !slices.Contains(words, "cat") ||
		d.Labels != fmt.Sprintf("labels: %d words of captions in a text file next to each picture", len(words)) {
		t.Errorf("pictures %v, words %v, %s", d.Train.IDs, words, d.Labels)
	}
	c.LabelForm = manifest.FormCommas
	refuse(t, "captions as labels", c.Validate(), "data.label_form is commas, and "+dir+" has captions")
	files, err := d.Files(t.Context(), false)
	expect.OK(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	want := []string{"data.captions/7.txt", "data.captions/a/8.txt", "data.images/7.jpg", "data.images/a/8.jpg"}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
}

func TestVocabularyOf_CountsTheFirstCaptionsOfEachPicture(t *testing.T) {
	file, err := scenes.Write(t.Context(), scenes.Config{Split: "train", N: 4, Seed: 1}, nil, t.TempDir())
	expect.OK(t, err)
	log := slog.New(slog.DiscardHandler)
	total := func(o CaptionWords, files ...string) (n int) {
		v, err := VocabularyOf(t.Context(), log, files, o)
		expect.OK(t, err)
		for _, w := range v.Words() {
			n += w.Count
		}
		return n
	}
	once, all := total(CaptionWords{CaptionsPerSample: 1, PaperSize: true}, file), total(CaptionWords{PaperCaptions: true},
		file)
	if once >= all || all != total(CaptionWords{CaptionsPerSample: 5}, file) {
		t.Errorf("%d words in one caption of each, %d in all", once, all)
	}
	if twice := total(CaptionWords{}, file, file); twice != 2*all {
		t.Errorf("%d words in a file that is named twice, want %d", twice, 2*all)
	}
	if v, err := VocabularyOf(t.Context(), log, []string{file},
		CaptionWords{VocabularyOptions: text.VocabularyOptions{Size: 3}}); err != nil || v.Len() != 3 {
		t.Errorf("%v, want 3 words (%v)", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := VocabularyOf(ctx, log, []string{file}, CaptionWords{}); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}
