package dataset

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/manifest"
)

func TestRecognise_ByContent(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write([]byte(content)); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
			content = b.String()
		}
		writeFile(t, path, content)
		return path
	}
	write("clips/"+loader.LabelsName, "{}\n")
	write("tree/cat/1.jpg", "")
	write("texts/0/1.jpg", "")
	write("texts/0/1.txt", "a dog\n")
	features := Recognised{Kind: Features}
	for path, want := range map[string]Recognised{
		"scenes":                    {Kind: Scenes},
		"moving-scenes":             {Kind: MovingScenes},
		filepath.Join(dir, "clips"): {Kind: Clips},
		filepath.Join(dir, "tree"):  {Kind: Manifest},
		filepath.Join(dir, "texts"): {Kind: Captions},
		write("c.json",
			`{"info": {"a": [1, {"b": 2}]}, "images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog"}]}`): {
			Kind: Captions},
		write("rows.json", `[{"labels": ["dog"], "image": "a.jpg"}]`): {Kind: Manifest},
		write("names.json", `{"a.jpg": ["dog"]}`):                     {Kind: Manifest},
		write("none.json", `{"annotations": []}`):                     {Kind: Manifest},
		write("i.json.gz", `{"images": [], "annotations": [{"image_id": 1, "category_id": 3}], "categories": []}`): {
			Kind: Manifest},
		write("v.json", `{"info": {}, "videos": [], "sentences": []}`):                          {Kind: MSRVTT},
		write("m.csv", "id,Path,labels\n1,a.jpg,dog\n"):                                         {Kind: Manifest},
		write("semicolons.csv", "\ufefffilename;tags\na.jpg;dog\n"):                             {Kind: Manifest},
		write("ids.csv", "id,red,green\n1.png,1,0\n"):                                           {Kind: Manifest},
		write("open.csv", "ImageID,Source,LabelName,Confidence\n000a,verification,/m/0jbk,1\n"): {Kind: Manifest},
		write("kaggle.csv", "image_id,label\n100,3\n"):                                          {Kind: Manifest},
		write("vectors.csv", "image_id,x0,x1,label\n100,.5,2,3\n"):                              features,
		write("header.csv", "Image,Label\na,dog\n"):                                             {Kind: Manifest},
		write("embedded.csv", "id,x0,x1\n1.png,.5,1\n"):                                         features,
		write("lines.csv", `{"path": "a.jpg"}`+"\n"):                                            {Kind: Manifest},
		write("x.csv", "x0,x1,dog\n1,2,0\n"):                                                    features,
		write("x.npy", ""):                                                                      features,
		write("train.arff.gz", "@relation x\n"):                                                 features,
		write("list.jsonl", `{"path": "a.jpg", "labels": ["dog"]}`+"\n"):                        {Kind: Manifest},
		write("data.yaml", "names: [dog]\n"):                                                    {Kind: Manifest},
		write("captions.txt", "image,caption\na.jpg,\"A dog, and a cat .\"\n"):                  {Kind: Captions},
		write("results.csv", "image_name| comment_number| comment\na.jpg| 0| A \"dog\" .\n"):    {Kind: Captions},
		write("captions.jsonl", `{"image": "a.jpg", "caption": "A dog"}`+"\n"):                  {Kind: Captions},
		write("lists.jsonl.gz", `{"image": "a.jpg", "captions": ["A dog"]}`+"\n"):               {Kind: Captions},
		write("array.json", `[{"file_name": "a.jpg", "text": "A dog"}]`):                        {Kind: Captions},
		write("both.jsonl", `{"image": "a", "caption": "A dog", "tags": []}`+"\n"):              {Kind: Manifest},
		write("results_20130124.token", "a.jpg#0\tA dog , and a cat .\n"):                       {Kind: Captions},
		write("Flickr8k.token.txt", "a.jpg#0\tA dog .\r\n"):                                     {Kind: Captions},
		write("bags.csv", "sample,caption\na,a dog\n"):                                          {Kind: Captions},
		write("class.csv", "image,caption,dog\na.jpg,0,1\n"):                                    {Kind: Manifest},
		write("both.csv", "image,caption,labels\na.jpg,a dog,dog\n"):                            {Kind: Manifest},
		write("table.txt", "path,labels\na.jpg,dog\n"):                                          {Kind: Manifest},
		write("caffe.txt", "a b.jpg 3\nb.jpg 0\n"):                                              {Kind: Manifest},
		write("several.csv", "a.jpg\t0 3\n"):                                                    {Kind: Manifest},
		write("a.zip", ""):                                                                      {Kind: MSRVTT},
	} {
		got, err := Recognise(t.Context(), path, "")
		if err != nil || got.Kind != want.Kind || got.Text == "" {
			t.Errorf("%s: %+v, %v, want %+v", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		write("list.json", `[{"image_id": 7}]`):           "or rows of pictures",
		write("other.json", `{"words": {"a": [1, [2]]}}`): "has no annotations and no sentences",
		write("odd.json", `{"annotations": {"a": 1}}`):    "not a list of objects",
		write("cut.json", `{"images": [{"id": 1}`):        "cut.json: ",
		write("empty.json", ""):                           "empty.json: ",
		write("notes.txt", "x"):                           "want a header such as path,labels or image,caption",
		write("pets.tar.gz", ""):                          "is an archive: unpack it",
		write("pets.zip", zipped(t, "pets/cat/1.jpg")):    "is an archive: unpack it",
		filepath.Join(dir, "gone/"):                       "want a folder of pictures or clips",
	} {
		_, err := Recognise(t.Context(), path, "")
		refuse(t, path, err, want)
	}
	t.Chdir(dir)
	write("scenes/cat/1.jpg", "")
	_, err := Recognise(t.Context(), "scenes", "")
	refuse(t, "what could be two things", err, "write ./scenes for the path")
	if got, err := Recognise(t.Context(), "./scenes", ""); err != nil || got.Kind != Manifest {
		t.Errorf("the path: %+v, %v", got, err)
	}
}

// The text files next to pictures hold captions or labels, whichever they look like or the user says.
func TestRecognise_TextsNextToPictures(t *testing.T) {
	dir := t.TempDir()
	for name, texts := range map[string][2]string{"captions": {"a dog runs", "a cat"},
		"tags": {"dog, grass", "cat, grass"}} {
		for i, text := range texts {
			writeFile(t, filepath.Join(dir, name, fmt.Sprintf("x/%d.jpg", i)), "")
			writeFile(t, filepath.Join(dir, name, fmt.Sprintf("x/%d.txt", i)), text)
		}
	}
	for _, of := range []struct {
		folder, form, says string
		want               Kind
	}{
		{"captions", "", "captions in a text file", Captions}, {"captions", "auto", "captions in a text file", Captions},
		{"captions", "commas", "labels in a text file", Manifest}, {"captions", "folders", "a folder of pictures", Manifest},
		{"tags", "", "labels in a text file", Manifest}, {"tags", "auto", "labels in a text file", Manifest},
		{"tags", "captions", "captions in a text file", Captions}, {"tags", "folders", "a folder of pictures", Manifest},
	} {
		got, err := Recognise(t.Context(), filepath.Join(dir, of.folder), manifest.Form(of.form))
		if err != nil || got.Kind != of.want || !strings.Contains(got.Text, of.says) {
			t.Errorf("%s as %q: %+v, %v", of.folder, of.form, got, err)
		}
	}
}

func FuzzRecognise(f *testing.F) {
	for _, seed := range []string{`{"annotations": [{"caption": ""}]}`, `{"a": [[[{}]]]}`, `[`, "path,labels\n",
		"\x1f\x8b"} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, content string, ending uint8) {
		names := []string{"d.json", "d.csv", "d.json.gz", "d.tsv"}
		path := filepath.Join(t.TempDir(), names[int(ending)%len(names)])
		writeFile(t, path, content)
		if got, err := Recognise(t.Context(), path, ""); err == nil && got.Kind.Key() == "" {
			t.Errorf("%q is taken for %+v", content, got)
		}
	})
}

// zipped is an archive with an empty file.
func zipped(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	_, err := archive.Create(name)
	expect.OK(t, err)
	expect.OK(t, archive.Close())
	return b.String()
}
