package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// folderWith is a folder with files; the content of pictures does not matter here.
func folderWith(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		expect.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
		expect.OK(t, os.WriteFile(file, []byte(content), 0o666))
	}
	return dir
}

// rows returns the rows of a manifest as text: file, split and labels.
func (m *Manifest) rows() []string {
	var rows []string
	for _, r := range m.Rows {
		rows = append(rows, strings.TrimSpace(r.Files[0]+" "+r.Split+" "+m.named(r.Labels)))
	}
	return rows
}

func (m *Manifest) text() string {
	var rows []string
	for _, r := range m.Rows {
		rows = append(rows, m.named(r.Labels))
	}
	return strings.Join(rows, " ")
}

// numbered returns the rows of a manifest as text: line, file and split, and labels in their order.
func (m *Manifest) numbered() string {
	var rows []string
	for _, r := range m.Rows {
		var labels []string
		for _, k := range r.Labels {
			labels = append(labels, m.Labels[k])
		}
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%d %s %s", r.Line, strings.TrimSpace(r.Files[0]+" "+r.Split),
			strings.Join(labels, ","))))
	}
	return strings.Join(rows, "; ")
}

func xmlOf(filename string, names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<annotation>\n\t<folder>x</folder>\n\t<filename>%s</filename>\n", filename)
	for i, name := range names {
		fmt.Fprintf(&b, "\t<object><name>%s</name><difficult>%d</difficult>\n\t\t<part><name>head</name></part>"+
			"<bndbox><xmin>1</xmin></bndbox></object>\n", name, i%2)
	}
	return b.String() + "</annotation>\n"
}

const smallCOCO = `{"info": {}, "images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
"annotations": [{"image_id": 1, "category_id": 4}, {"image_id": 1, "category_id": 9}],
"categories": [{"id": 4, "name": "dog"}, {"id": 9, "name": "cat"}]}`

// Every form of a folder gives the rows that it states.
func TestRead_Folders(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		form  Form
		want  []string
		notes string
	}{
		"folders": {map[string]string{"cat/1.jpg": "", "cat/deep/2.PNG": "", "dog/3.jpeg": "", "dog/.hidden.jpg": "",
			"readme.txt": "", "4.jpg": "", "cat/5.HEIC": ""}, FormFolders, []string{"cat/1.jpg  cat", "cat/deep/2.PNG  cat",
			"dog/3.jpeg  dog"},
			"1 picture in no folder of a label: 4.jpg, 1 picture in a format that is not read: cat/5.HEIC (AVIF, HEIC, " +
				"JPEG 2000, JPEG XL are not read: convert them to JPEG, as magick IN OUT.jpg of ImageMagick does), " +
				"1 file that is no picture: readme.txt"},
		"folders of splits": {map[string]string{"train/cat/1.jpg": "", "train/dog/2.jpg": "", "val/cat/3.jpg": "",
			"test/dog/4.jpg": ""}, FormFolders, []string{"test/dog/4.jpg test dog", "train/cat/1.jpg train cat",
			"train/dog/2.jpg train dog", "val/cat/3.jpg validate cat"}, ""},
		"labels called like splits": {map[string]string{"train/1.jpg": "", "bus/2.jpg": ""}, FormFolders,
			[]string{"bus/2.jpg  bus", "train/1.jpg  train"}, ""},
		"VOC": {map[string]string{"Annotations/1.xml": xmlOf("1.jpg", "dog", "cat", "dog"), "JPEGImages/1.jpg": "",
			"Annotations/2.xml": xmlOf("other.png"), "JPEGImages/2.jpg": "", "JPEGImages/3.jpg": "",
			"SegmentationClass/1.png": ""}, FormVOC, []string{"JPEGImages/1.jpg  cat,dog", "JPEGImages/2.jpg"},
			"1 picture without an annotation: JPEGImages/3.jpg"},
		"VOC with lists": {map[string]string{"VOC/Annotations/1.xml": xmlOf("1.jpg", "dog"), "VOC/JPEGImages/1.jpg": "",
			"VOC/Annotations/2.xml": xmlOf("2.jpg", "cat"), "VOC/JPEGImages/2.jpg": "",
			"VOC/Annotations/3.xml": xmlOf("3.jpg", "cat"), "VOC/JPEGImages/3.jpg": "", "VOC/JPEGImages/4.jpg": "",
			"VOC/ImageSets/Main/train.txt": "1\n", "VOC/ImageSets/Main/val.txt": "2\n",
			"VOC/ImageSets/Main/trainval.txt": "1\n2\n", "VOC/ImageSets/Main/dog_train.txt": "1  1\n",
			"VOC/ImageSets/Main/test.txt": "4\n"}, FormVOC,
			[]string{"VOC/JPEGImages/1.jpg train dog", "VOC/JPEGImages/2.jpg validate cat"},
			"1 annotation in no list: VOC/Annotations/3.xml, VOC/ImageSets/Main/test.txt: no annotation for its 1 pictures"},
		"VOC beside the pictures": {map[string]string{"train/a.xml": xmlOf("a.jpg", "dog"), "train/a.jpg": "",
			"valid/b.xml": xmlOf("b.jpg", "cat"), "valid/b.jpg": ""}, FormVOC,
			[]string{"train/a.jpg train dog", "valid/b.jpg validate cat"}, ""},
		"YOLO": {map[string]string{"images/train/1.jpg": "", "labels/train/1.txt": "1 .5 .5 1 1\n0 .5 .5 1 1\n1 0 0 1 1\n",
			"images/val/2.jpg": "", "images/val/3.jpg": "", "labels/val/3.txt": "", "labels/val/4.txt": "0 1 1 1 1",
			"data.yaml": "path: ../x\ntrain: images/train\nnames: [dog, cat]\n"}, FormYOLO,
			[]string{"images/train/1.jpg train cat,dog", "images/val/2.jpg validate", "images/val/3.jpg validate"},
			"1 label file without a picture: labels/val/4.txt"},
		"YOLO of Roboflow": {map[string]string{"train/images/1.jpg": "", "train/labels/1.txt": "1 .5 .5 1 1",
			"test/images/2.jpg": "", "test/labels/2.txt": "0 .5 .5 1 1", "data.yaml": "nc: 2\nnames:\n  1: cat\n  0: dog\n"},
			FormYOLO, []string{"test/images/2.jpg test dog", "train/images/1.jpg train cat"}, ""},
		"YOLO with classes.txt": {map[string]string{"1.jpg": "", "1.txt": "1 .5 .5 1 1", "classes.txt": "dog\ncat\n"},
			FormYOLO, []string{"1.jpg  cat"}, ""},
		"YOLO without names": {map[string]string{"images/1.jpg": "", "labels/1.txt": "7 .5 .5 1 1"},
			FormYOLO, []string{"images/1.jpg  7"}, "names of the classes, which no data.yaml or classes.txt gives"},
		"COCO": {map[string]string{"annotations/instances_train2017.json": smallCOCO, "train2017/1.jpg": "",
			"train2017/2.jpg": "", "annotations/instances_val2017.json": strings.NewReplacer("1.jpg", "5.jpg", "2.jpg",
				"6.jpg").Replace(smallCOCO), "val2017/5.jpg": "", "val2017/6.jpg": ""}, FormCOCO,
			[]string{"train2017/1.jpg train cat,dog", "train2017/2.jpg train", "val2017/5.jpg validate cat,dog",
				"val2017/6.jpg validate"}, ""},
		"COCO of Roboflow": {map[string]string{"train/_annotations.coco.json": smallCOCO, "train/1.jpg": "",
			"train/2.jpg": ""}, FormCOCO, []string{"train/1.jpg train cat,dog", "train/2.jpg train"}, ""},
	} {
		dir := folderWith(t, c.files)
		m, err := Read(t.Context(), dir, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Form != c.form || m.Folder != dir || m.File != dir {
			t.Errorf("%s: form %s, folder %s", name, m.Form, m.Folder)
		}
		if got := m.rows(); !slices.Equal(got, c.want) {
			t.Errorf("%s: rows %q, want %q", name, got, c.want)
		}
		if got := strings.Join(m.Columns.Ignored, ", "); got != c.notes {
			t.Errorf("%s: notes %q, want %q", name, got, c.notes)
		}
		if err := m.FindFiles(t.Context(), m.Folder, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		says := map[Form]string{FormFolders: "a folder of pictures for each", FormVOC: "annotations of Pascal VOC",
			FormYOLO: "label files of YOLO", FormCOCO: "categories of COCO"}[c.form]
		if told := m.Describe(); !strings.HasPrefix(told, fmt.Sprintf("labels: %d class", len(m.Labels))) ||
			!strings.Contains(told, says) {
			t.Errorf("%s: %s", name, told)
		}
	}
}

// Difficult objects count as labels unless an option excludes them.
func TestRead_VOCWithoutDifficult(t *testing.T) {
	dir := folderWith(t, map[string]string{"Annotations/1.xml": xmlOf("1.jpg", "dog", "cat"), "JPEGImages/1.jpg": ""})
	for less, want := range map[bool]string{false: "cat,dog", true: "dog"} {
		m, err := Read(t.Context(), filepath.Join(dir, "Annotations"), Options{LessDifficult: less})
		if err != nil || m.named(m.Rows[0].Labels) != want || m.Folder != dir {
			t.Errorf("%+v, %v; want %s", m, err, want)
		}
	}
}

// A single file of instances finds its pictures next to it, where COCO has them, or in the given folder.
func TestRead_TextsNextToPictures(t *testing.T) {
	folder := folderWith(t, map[string]string{
		"dog/1.jpg": "", "dog/1.txt": "\xef\xbb\xbfdog, grass,\r\n", "dog/2.jpg": "", "dog/2.txt": "dog, big  cat\nsky",
		"cat/3.jpg": "", "cat/3.txt": "", "pig/4.jpg": "", "cat/5.jpg": "", "cat/5.txt": "grass, dog", "cat/6.txt": "dog",
	})
	read := func(o Options) *Manifest {
		t.Helper()
		m, err := Read(t.Context(), folder, o)
		expect.OK(t, err)
		return m
	}
	m := read(Options{})
	if got, want := m.text(), " dog,grass dog,grass big  cat,dog,sky"; got != want || m.Form != FormCommas {
		t.Errorf("labels %q in the form %s, want %q", got, m.Form, want)
	}
	if got, want := m.Describe()+", "+m.Columns.String(), "labels: 4 classes, separated by commas in a text file next to "+
		"each picture, text files; not used: 1 picture without a text file: pig/4.jpg"; got != want {
		t.Errorf("described as %q, want %q", got, want)
	}
	if want := []string{"cat/3.txt", "cat/5.txt", "dog/1.txt", "dog/2.txt"}; !slices.Equal(m.Sources, want) {
		t.Errorf("sources %q, want %q", m.Sources, want)
	}
	for _, o := range []Options{{Images: folder}, {Form: FormFolders}} {
		if m := read(o); m.Form != FormFolders || m.text() != "cat cat dog dog pig" {
			t.Errorf("%+v: %q in the form %s", o, m.text(), m.Form)
		}
	}
	if m := read(Options{Form: FormBlanks}); !slices.Contains(m.Labels, "big") {
		t.Errorf("blanks: labels %q", m.Labels)
	}
	_, err := Read(t.Context(), folderWith(t, map[string]string{"a/1.jpg": ""}), Options{Form: FormCommas})
	refuse(t, "no texts", err, "none of its pictures has a text file with labels")
}

func TestRead_FileOfInstances(t *testing.T) {
	dir := folderWith(t, map[string]string{"annotations/instances_train2017.json": smallCOCO, "train2017/1.jpg": "",
		"train2017/2.jpg": "", "else/1.jpg": "", "else/2.jpg": ""})
	file := filepath.Join(dir, "annotations", "instances_train2017.json")
	for images, want := range map[string]string{"": "train2017", filepath.Join(dir, "else"): "else"} {
		m, err := Read(t.Context(), file, Options{Images: images})
		expect.OK(t, err)
		if m.Form != FormCOCO || m.Folder != filepath.Join(dir, want) || m.HasSplits() ||
			!slices.Equal(m.rows(), []string{"1.jpg  cat,dog", "2.jpg"}) {
			t.Errorf("%s: %s, %q", m.Form, m.Folder, m.rows())
		}
	}
}

func TestRead_FolderErrorsNamePlaceAndCure(t *testing.T) {
	const bomb = `<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY y "&x;&x;&x;">]><annotation><filename>&y;</filename></annotation>`
	deep := "<annotation>" + strings.Repeat("<a>", 100_000)
	voc := func(content string) map[string]string {
		return map[string]string{"Annotations/1.xml": content, "JPEGImages/1.jpg": ""}
	}
	yolo := func(label, names string) map[string]string {
		return map[string]string{"images/1.jpg": "", "labels/1.txt": label, "data.yaml": names}
	}
	for name, c := range map[string]struct {
		files map[string]string
		form  Form
		says  []string
	}{
		"nothing":            {nil, "", []string{"no pictures", "cat/1.jpg"}},
		"loose pictures":     {map[string]string{"1.jpg": "", "2.jpg": ""}, "", []string{"2 pictures", "cat/1.jpg"}},
		"forced, nothing":    {nil, FormFolders, []string{"no pictures", "cat/1.jpg"}},
		"forced YOLO":        {nil, FormYOLO, []string{"none of its pictures"}},
		"forced, loose":      {map[string]string{"1.jpg": ""}, FormFolders, []string{`first "1.jpg"`, "cat/1.jpg"}},
		"splits of pictures": {map[string]string{"train/a/1.jpg": "", "x/2.jpg": ""}, "", []string{`"train"`, `"x" next to it is no split`}},
		"two forms": {map[string]string{"Annotations/1.xml": xmlOf("1.jpg"), "labels/1.txt": "", "images/1.jpg": ""}, "",
			[]string{"`data.label_form` voc or yolo"}},
		"a form of files":   {map[string]string{"a/1.jpg": ""}, FormCommas, []string{"`data.label_form` commas", "name a file"}},
		"no annotations":    {map[string]string{"a/1.jpg": ""}, FormVOC, []string{"no annotations"}},
		"no instances":      {map[string]string{"a/1.jpg": ""}, FormCOCO, []string{"instances_train2017.json"}},
		"no label files":    {map[string]string{"a/1.jpg": ""}, FormYOLO, []string{"none of its pictures has a label file"}},
		"a name with blank": {map[string]string{"a /1.jpg": ""}, "", []string{`"a /1.jpg"`, "blank"}},

		"XML that is cut":   {voc(xmlOf("1.jpg", "dog")[:90]), "", []string{`"Annotations/1.xml": line 4`}},
		"an empty XML":      {voc(""), "", []string{"line 1: the file is empty or ends early"}},
		"entities":          {voc(bomb), "", []string{"line 1", "&y;"}},
		"deep XML":          {voc(deep), "", []string{"nested more than 64 deep"}},
		"another XML":       {voc("<html></html>"), "", []string{"it is <html>, want <annotation>"}},
		"an object":         {voc("<annotation>\n<object></object></annotation>"), "", []string{"line 2: an <object> has no <name>"}},
		"an empty name":     {voc(xmlOf("1.jpg", "")), "", []string{"line 4: <name>: a name is empty"}},
		"a picture outside": {voc(xmlOf("../../../etc/passwd")), "", []string{`"Annotations/1.xml": line 3: <filename>`, "leads out"}},
		"an absolute one":   {voc(xmlOf("/etc/passwd")), "", []string{`"/etc/passwd" is absolute`}},
		"one picture twice": {map[string]string{"Annotations/1.xml": xmlOf("1.jpg"), "Annotations/2.xml": xmlOf("1.jpg"),
			"JPEGImages/1.jpg": ""}, "", []string{`"Annotations/2.xml"`, `"JPEGImages/1.jpg" is described twice`}},
		"twice in lists": {map[string]string{"Annotations/1.xml": xmlOf("1.jpg"), "JPEGImages/1.jpg": "",
			"ImageSets/Main/train.txt": "1\n\n1\n"}, "", []string{`train.txt": line 3: "1" is in line 1`}},
		"listed, not there": {map[string]string{"Annotations/1.xml": xmlOf("1.jpg"), "JPEGImages/1.jpg": "",
			"ImageSets/Main/train.txt": "1\n2\n3\n"}, "", []string{`train.txt", line 2: there is no annotation of "2" (nor of 1`}},

		"a class too many":   {yolo("0 1 1 1 1\n2 1 1 1 1\n", "names: [a, b]"), "", []string{`"labels/1.txt": line 2: there is no class 2 among 2`}},
		"a negative class":   {yolo("-1 1 1 1 1", "names: [a]"), "", []string{`"-1", want the number of a class`}},
		"no number":          {yolo("dog 1 1 1 1", "names: [a]"), "", []string{`"dog", want the number`}},
		"a gap in the names": {yolo("0 1 1 1 1", "names: {0: a, 2: b}"), "", []string{`"data.yaml": line 1: names has the number 2 among 2`}},
		"names that are one": {yolo("0 1 1 1 1", "names: a"), "", []string{`"data.yaml"`}},
		"YAML that is cut":   {yolo("0 1 1 1 1", "names: [a"), "", []string{`"data.yaml"`}},
		"COCO that is cut": {map[string]string{"instances_train.json": smallCOCO[:150], "1.jpg": ""}, "",
			[]string{"instances_train.json", "end early"}},
	} {
		dir := folderWith(t, c.files)
		_, err := Read(t.Context(), dir, Options{Form: c.form})
		refuse(t, name, err, append(c.says, dir)...)
	}
}

// A link to a folder is refused, for its pictures would be left out without a word.
func TestRead_RefusesLinksToFolders(t *testing.T) {
	dir := folderWith(t, map[string]string{"cat/1.jpg": ""})
	if err := os.Symlink(folderWith(t, map[string]string{"1.jpg": ""}), filepath.Join(dir, "dog")); err != nil {
		t.Skip(err)
	}
	if _, err := Read(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), `"dog"`) {
		t.Errorf("%v, want the link", err)
	}
}

// Splits are often folders of links. A link that leads to no picture is a picture that is missing.
func TestRead_FollowsLinksToPictures(t *testing.T) {
	other := folderWith(t, map[string]string{"1.jpg": "", "1.txt": "0 .5 .5 1 1"})
	for form, files := range map[Form][]string{FormFolders: {"cat/1.jpg"}, FormYOLO: {"images/1.jpg", "labels/1.txt"}} {
		dir := folderWith(t, map[string]string{"cat/2.jpg": "", "dog/3.jpg": ""})
		for _, file := range files {
			expect.OK(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o777))
			if err := os.Symlink(filepath.Join(other, filepath.Base(file)), filepath.Join(dir, file)); err != nil {
				t.Skip(err)
			}
		}
		m, err := Read(t.Context(), dir, Options{Form: form})
		if err != nil || len(m.Rows) != 3 || !slices.ContainsFunc(m.rows(), func(row string) bool {
			return strings.HasPrefix(row, files[0])
		}) {
			t.Errorf("%s: %v, %v", form, m, err)
		}
	}
	dir := folderWith(t, map[string]string{"cat/1.jpg": "", "dog/2.jpg": ""})
	for name, to := range map[string]string{"broken": "nowhere.jpg", "loop": "loop.jpg", "fine": "1.jpg"} {
		if err := os.Symlink(to, filepath.Join(dir, "cat", name+".jpg")); err != nil {
			t.Skip(err)
		}
	}
	m, err := Read(t.Context(), dir, Options{})
	expect.OK(t, err)
	want := []string{`picture "cat/broken.jpg": "cat/broken.jpg" is a link to "nowhere.jpg", which is not there`,
		`picture "cat/loop.jpg": "cat/loop.jpg" is a link that leads back to itself`}
	if err := m.FindFiles(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), strings.Join(want, ", ")) {
		t.Errorf("%v, want %q", err, want)
	}
	if m, err = Read(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	var left []string
	err = m.FindFiles(t.Context(), dir, func(err error) { left = append(left, err.Error()) })
	if err != nil || !slices.Equal(left, want) || len(m.Rows) != 3 {
		t.Errorf("%d rows and %v; left out %q, want %q", len(m.Rows), err, left, want)
	}
}

// One file whose name cannot be written to a list costs its picture, not the set.
func TestRead_NamesThatCannotBeUsedAreLeftOut(t *testing.T) {
	dir := folderWith(t, map[string]string{"cat/1.jpg": "", "cat/a\ab.jpg": ""})
	m, err := Read(t.Context(), dir, Options{})
	expect.OK(t, err)
	var left []error
	err = m.FindFiles(t.Context(), dir, func(err error) { left = append(left, err) })
	if err != nil || len(m.Rows) != 1 ||
		len(left) != 1 || !strings.Contains(left[0].Error(), `"cat/a\ab.jpg" holds a control character`) {
		t.Errorf("rows %q, left out %v, %v", m.rows(), left, err)
	}
}

// An annotation whose picture is not there is a row without its file, as in a list.
func TestRead_MissingPictures(t *testing.T) {
	dir := folderWith(t, map[string]string{"Annotations/1.xml": xmlOf("1.jpg", "dog"), "JPEGImages/1.jpg": "",
		"Annotations/2.xml": xmlOf("2.jpg", "dog")})
	m, err := Read(t.Context(), dir, Options{})
	expect.OK(t, err)
	if err := m.FindFiles(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), `"JPEGImages/2.jpg"`) {
		t.Errorf("%v, want the picture that is missing", err)
	}
	if err := m.FindFiles(t.Context(), dir, func(error) {}); err != nil || len(m.Rows) != 1 {
		t.Errorf("%d rows, %v", len(m.Rows), err)
	}
}

// Time grows with the number of files, not with its square.
func TestRead_ManyFiles(t *testing.T) {
	const n = 300_000
	l := &listing{folder: "x"}
	for i := range n {
		l.pictures = append(l.pictures, fmt.Sprintf("class %d/%d.jpg", i%1000, i))
		l.others = append(l.others, fmt.Sprintf("class %d/%d.json", i%1000, i))
	}
	o := Options{}
	r := &folderReader{labels: l, pictures: l, o: &o, b: newBuilder("x", "x")}
	expect.OK(t, r.read(t.Context()))
	if len(r.b.manifest.Rows) != n || len(r.b.manifest.Labels) != 1000 {
		t.Errorf("%d rows, %d labels", len(r.b.manifest.Rows), len(r.b.manifest.Labels))
	}
}

func FuzzParseVOC(f *testing.F) {
	f.Add(xmlOf("1.jpg", "dog", "cat"))
	f.Add("<annotation><object><name>a</name></object></annotation>")
	f.Add("<annotation></object>")
	f.Add("</a>")
	f.Add("<annotation/><annotation/>")
	f.Fuzz(func(t *testing.T, content string) {
		a, err := parseVOC(strings.NewReader(content))
		if err != nil {
			return
		}
		for _, name := range a.labels(false) {
			if CheckLabel(name) != nil {
				t.Errorf("label %q", name)
			}
		}
	})
}

func FuzzParseYOLO(f *testing.F) {
	f.Add("0 .5 .5 1 1\n", "names: [a, b]")
	f.Add("1\n\n7 x", "names:\n  0: a\n  1: b\n")
	f.Add("-1", "names: &a [*a]")
	f.Fuzz(func(t *testing.T, labels, names string) {
		classes, err := parseYAMLNames(strings.NewReader(names))
		if err != nil {
			return
		}
		found, err := parseYOLO(strings.NewReader(labels), classes)
		if err == nil && classes != nil && len(found) > len(classes) {
			t.Errorf("%d of %d classes", len(found), len(classes))
		}
	})
}

func FuzzCells(f *testing.F) {
	f.Add(`["dog", "cat"]`, "json")
	f.Add(`['it\'s' "b" c]`, "json")
	f.Add("a, b", "commas")
	f.Add("3.0", "integers")
	f.Fuzz(func(t *testing.T, cell, form string) {
		s := statement{form: Form(form)}
		_, _ = s.names(cell)
	})
}

// Folders of labels that hold no picture are named, and folders inside them are not.
func TestRead_NamesEmptyFolders(t *testing.T) {
	for name, c := range map[string]struct {
		pictures []string
		folders  []string
		want     string
	}{
		"a label": {[]string{"cat/1.jpg", "dog/deep/2.jpg"}, []string{"horse", "cat/more", "dog/deep/er"},
			"1 folder of a label without a picture that can be read: horse"},
		"labels in splits": {[]string{"train/cat/1.jpg", "val/cat/2.jpg"}, []string{"train/dog", "val/emu/x", "test"},
			"3 folders of labels without a picture that can be read: test, train/dog, val/emu"},
		"many": {[]string{"cat/1.jpg"}, strings.Fields("b0 b1 b2 b3 b4 b5 b6 b7 b8 b9"),
			"10 folders of labels without a picture that can be read: b0, b1, b2, b3, b4, b5, b6, b7 and 2 more"},
		"none": {[]string{"cat/1.jpg"}, nil, ""},
	} {
		files := map[string]string{}
		for _, file := range c.pictures {
			files[file] = ""
		}
		dir := folderWith(t, files)
		for _, folder := range c.folders {
			expect.OK(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(folder)), 0o777))
		}
		m, err := Read(t.Context(), dir, Options{})
		expect.OK(t, err)
		if got := strings.Join(m.Columns.Ignored, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A folder of pictures without labels gives an error that names a table that may have them.
func TestRead_FolderWithoutLabels(t *testing.T) {
	for table, want := range map[string]string{
		"note.txt": "there are 2 pictures in it and no labels; make a folder for each label",
		"tags.csv": "there are 2 pictures in it and no labels; if tags.csv states them, name that file",
	} {
		dir := folderWith(t, map[string]string{"1.jpg": "", "2.jpg": "", table: ""})
		_, err := Read(t.Context(), dir, Options{})
		refuse(t, table, err, want)
		if err := CheckLabelled(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
	if err := CheckLabelled(folderWith(t, map[string]string{"1.mp4": "", "2.mkv": ""})); err == nil ||
		!strings.Contains(err.Error(), "there are 2 videos in it and no labels; take their frames by nmn frames") {
		t.Errorf("videos: %v", err)
	}
	if err := CheckLabelled(folderWith(t, map[string]string{"1.jpg": "", "cat/1.jpg": ""})); err != nil {
		t.Errorf("a folder for each label: %v", err)
	}
	if CheckLabelled(folderWith(t, map[string]string{"1.jpg": "", ".hidden/1.jpg": ""})) == nil {
		t.Error("a hidden folder counts as a label")
	}
}

// The folder of the folders of labels may lie in another one, which is then no label.
func TestRead_FolderAboveTheLabels(t *testing.T) {
	_, err := Read(t.Context(), folderWith(t, map[string]string{"pets/cat/1.jpg": "", "pets/dog/2.jpg": ""}), Options{})
	refuse(t, "two folders", err, `"pets" would be the only label, and has 2 folders with pictures`, `/pets"`)
	known := folderWith(t, map[string]string{"pets/cat/1.jpg": "", "pets/dog/2.jpg": ""})
	if m, err := Read(t.Context(), known, Options{Words: []string{"farm", "pets"}}); err != nil || len(m.Rows) != 2 {
		t.Errorf("a known class: %v, %v", m, err)
	}
	for name, files := range map[string]map[string]string{
		"one folder inside": {"pets/cat/1.jpg": ""},
		"pictures outside":  {"pets/cat/1.jpg": "", "pets/dog/2.jpg": "", "pets/3.jpg": ""},
		"splits":            {"train/pets/cat/1.jpg": "", "train/pets/dog/1.jpg": ""},
	} {
		m, err := Read(t.Context(), folderWith(t, files), Options{})
		if err != nil || !slices.Equal(m.Labels, []string{"pets"}) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}
