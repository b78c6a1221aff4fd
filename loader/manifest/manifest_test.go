package manifest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// refuse wants an error of the annotations that has some parts.
func refuse(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if err == nil || !errors.Is(err, loader.ErrAnnotations) {
		t.Errorf("%.60s: %v", what, err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%.60s: %.300v does not say %s", what, err, part)
		}
	}
}

func parseText(name, text string, o Options) (*Manifest, error) {
	return read(name, o, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
}

func parsed(t *testing.T, content string) *Manifest {
	t.Helper()
	m, err := parseText("m.csv", content, Options{})
	expect.OK(t, err)
	return m
}

func (m *Manifest) named(indices []int32) string {
	var names []string
	for _, k := range indices {
		names = append(names, m.Labels[k])
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// The same rows in all three forms are the same manifest.
func TestParse_FormsAgree(t *testing.T) {
	for name, content := range map[string]string{
		"lists":   "path,labels,split,note\r\na/1.jpg,cat;dog,train,x\r\nb.jpg,,test,\"y,\nz\"\r\nc.jpg, dog | dog ,VAL,\r\n",
		"columns": "path\tdog\tcat\tsplit\na/1.jpg\t1\t1\ttraining\nb.jpg\t0\t0.0\ttest\nc.jpg\t1.0\t0\tvalidation\n",
		"JSON lines": "{\"path\": \"a/1.jpg\", \"labels\": [\"dog\", \"cat\"], \"split\": \"train\", \"width\": " +
			"3}\n\n{\"labels\": [], \"path\": \"b.jpg\", \"split\": \"test\", \"id\": null}\n{\"path\": \"c.jpg\", " +
			"\"labels\": [\"dog\"], \"split\": \"dev\"}",
	} {
		m := parsed(t, content)
		var got []string
		for _, r := range m.Rows {
			got = append(got, strings.Join(append([]string{r.ID, r.Split, m.named(r.Labels)}, r.Files...), " "))
		}
		want := []string{"a/1.jpg train cat,dog a/1.jpg", "b.jpg test  b.jpg", "c.jpg validate dog c.jpg"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows %q, want %q", name, got, want)
		}
		if ignored := m.Columns.Ignored; len(ignored) != map[string]int{"lists": 1, "JSON lines": 1}[name] {
			t.Errorf("%s: ignored %q", name, ignored)
		}
	}
}

func TestRead_MarkAndCompression(t *testing.T) {
	const content = "\ufeffpath,labels\na.jpg,dog\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(content)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	dir := folderWith(t, map[string]string{"my.list.csv": content, "my.list.csv.gz": zipped.String()})
	for _, name := range []string{"my.list.csv", "my.list.csv.gz"} {
		m, err := Read(t.Context(), filepath.Join(dir, name), Options{})
		if err != nil || len(m.Rows) != 1 || m.Rows[0].ID != "a.jpg" || m.Stem() != "my.list" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestParse_TruthAndCountsMayBeUnknown(t *testing.T) {
	m := parsed(t, "frames,id,labels,truth,counts\na.png|b.png,x,dog,cat;dog,dog:3;odd:name:2\nc.png,y,,-,?\nd.png,z,,,\n")
	if r := m.Rows[0]; !slices.Equal(r.Files, []string{"a.png", "b.png"}) || r.ID != "x" ||
		m.named(r.Truth) != "cat,dog" || len(r.Counts) != 2 ||
		r.Counts[0].Count != 3 || m.Labels[r.Counts[1].Label] != "odd:name" || r.Counts[1].Count != 2 {
		t.Errorf("row %+v of %q", r, m.Labels)
	}
	if m.Rows[1].Truth == nil || len(m.Rows[1].Truth) != 0 || m.Rows[1].Counts != nil || m.Rows[2].Truth != nil {
		t.Errorf("rows %+v, want truth that is known to be empty, and truth that is not known", m.Rows[1:])
	}
}

// The column of the pictures is known by the names that other programs give it.
func TestParse_OtherNamesOfThePath(t *testing.T) {
	for content, description := range map[string]string{
		"labels,filename\ndog,a.jpg\n":                      "CSV with labels, path (filename)",
		"dog,image\n1,a.jpg\n":                              "CSV with path (image), 1 column of labels (0 or 1)",
		"path,labels,file\na.jpg,dog,x\n":                   "CSV with path, labels; not used: file",
		"Image,Label\na.jpg,dog\n":                          "CSV with path (Image), Label",
		"File Name;Class Name;ID\na.jpg;dog;a.jpg\n":        "CSV with path (File Name), Class Name, ID",
		"ImageID,Source,LabelName\na.jpg,x,dog\n":           "CSV with path (ImageID), LabelName; not used: Source",
		",filename,label\n0,a.jpg,dog\n":                    "CSV with path (filename), label; not used: Unnamed: 0",
		"name,label\na.jpg,dog\n":                           "CSV with path (name), label",
		"id,filename,label\na.jpg,a.jpg,dog\n":              "CSV with id, path (filename), label",
		"image_id,filename,label\n7,a.jpg,dog\n":            "CSV with path (filename), label; not used: image_id",
		"path,labels\na.jpg,\"d\"\"o\"\"g\"\n":              "CSV with path, labels",
		"Path,path,dog\n0,a.jpg,1\n":                        "CSV with path, 2 columns of labels (0 or 1)",
		"{\"Image\": \"a.jpg\", \"Label\": \"dog\"}":        "JSON lines with path (Image), Label",
		"{\"file_name\": \"a.jpg\", \"labels\": [\"dog\"]}": "JSON lines with path (file_name), labels",
	} {
		m := parsed(t, content)
		if got := m.Columns.String(); got != description || m.Rows[0].ID != "a.jpg" ||
			strings.ReplaceAll(m.named(m.Rows[0].Labels), `"`, "") != "dog" {
			t.Errorf("%q: %q, %+v, want %q", content, got, m.Rows[0], description)
		}
	}
}

// Columns of single true labels and counts say what lists do.
func TestParse_TruthAndCountsByColumn(t *testing.T) {
	m := parsed(t,
		"path,dog,cat,truth:dog,truth:cat,counts:dog,counts:emu\na,1,0,1,True,3,0\nb,True,false,?,,,?\nc,0,0,0,0,0,1\n")
	const want = "CSV with path, 2 columns of labels (0 or 1), 2 of true labels (0 or 1), 2 of counts"
	if got := m.Columns.String(); got != want {
		t.Errorf("columns %q", got)
	}
	lists := parsed(t, "path,labels,truth,counts\na,dog,dog;cat,dog:3\nb,dog,?,\nc,,-,emu:1\n")
	for i, r := range m.Rows {
		want := lists.Rows[i]
		same := slices.EqualFunc(r.Counts, want.Counts, func(a, b LabelCount) bool {
			return m.Labels[a.Label] == lists.Labels[b.Label] && a.Count == b.Count
		})
		if m.named(r.Labels) != lists.named(want.Labels) || m.named(r.Truth) != lists.named(want.Truth) ||
			(r.Truth == nil) != (want.Truth == nil) ||
			!same || (r.Counts == nil) != (want.Counts == nil) {
			t.Errorf("row %+v of %q, want %+v of %q", r, m.Labels, want, lists.Labels)
		}
	}
}

func TestParse_ErrorsNamePlaceAndCure(t *testing.T) {
	long := strings.Repeat("x", maxLine+1<<13)
	for _, c := range []struct{ content, says string }{
		{"", "the file is empty"},
		{"\n \n", "the file is empty"},
		{"path,labels\n", "there are no rows"},
		{"[{\"path\": 1}]", "it is missing"},
		{"foto,labels\na.jpg,dog\n", "line 1: no column names the pictures; call one path, filename or image, or set " +
			"which it is (`data.path_column`); columns are foto, labels"},
		{"File,Image,labels\na.jpg,b.jpg,dog\n", "columns \"File\" and \"Image\" may both name the pictures; set which " +
			"(`data.path_column`)"},
		{"Filename,Labels\n,dog\n", "line 2, column \"Filename\": it is empty"},
		{"Filename,Tags,Split\na.jpg,dog,odd\n", "line 2, column \"Split\": \"odd\" is no split"},
		{"Filename,Tags\na.jpg,dog;;cat\n", "line 2, column \"Tags\": a name is empty"},
		{"{\"Image\": \"a.jpg\", \"Tags\": [\"d\", \"\"]}", "line 1, column \"Tags\": a name is empty"},
		{"{\"Image\": 3, \"Tags\": [\"d\"]}", "line 1, column \"Image\": 3 is not text"},
		{"Filename,Tags,Truth\na.jpg,d,d;;c\n", "line 2, column \"Truth\": a name is empty"},
		{"a.jpg,dog\nb.jpg,cat\n", "line 1: it is a row (a.jpg, dog), want a header above"},
		{"path,what\na.jpg,dog\n", "column \"what\": \"dog\" is neither 0 nor 1; repair it, or if the column holds names, set it (`data.features.list_column`)"},
		{"path,split\na,train\n", "there are no labels"},
		{"path,frames,labels\n", "one picture or one list"},
		{"path,labels,labels\na,b,c\n", "column 3 is named \"labels\""},
		{"path,labels\na.jpg,dog,cat\n", "line 2: 3 fields"},
		{"path,labels\na.jpg,dog;;cat\n", "line 2, column \"labels\": a name is empty"},
		{"path,labels\na.jpg,NaN\n", "leave the cell empty"},
		{"path,dog\na.jpg,NaN\n", "line 2, column \"dog\": \"NaN\" is neither 0 nor 1"},
		{"path,dog\na.jpg,1\nb.jpg,\n", "line 3, column \"dog\""},
		{"path,height\na.jpg,480\n", "`data.features.ignore_columns`"},
		{"path,labels\na.jpg,x;z\na.jpg,y\n", "line 3, column \"path\": \"a.jpg\" repeats line 2 with other content"},
		{"Image,Tags,Split\na.jpg,x,train\na.jpg,y,test\n", "line 3, column \"Split\": \"a.jpg\" is in another split on " +
			"line 2"},
		{"path,tag,truth\na.jpg,x,x\na.jpg,y,x\n", "line 3, column \"path\": \"a.jpg\" repeats line 2 with other"},
		{"path,labels,id\na.jpg,x,1\nb.jpg,y,1\n", "\"1\" repeats line 2"},
		{"path,labels\n,x\n", "column \"path\": it is empty"},
		{"frames,labels\n,x\n", "column \"path\": it is missing"},
		{"path,labels,split\na,x,holdout\n", "\"holdout\" is no split; want train, validation or test"},
		{"path,labels,split\na,x,train\nb,x,\n", "line 2 has a split and line 3 has none"},
		{"path,labels,split\na,x,\nb,x,test\n", "line 3 has a split and line 2 has none"},
		{"path,labels\n1.png,5\" wide\n", "line 2"},
		{"path,labels\n1.png,5\" wide\n", "write each of them twice"},
		{"path,labels,truth:x,truth:y\na,x,1,\n", "line 2, column \"truth:y\": it and column \"truth:x\""},
		{"path,labels,truth:x\na,x,2\n", "line 2, column \"truth:x\": \"2\" is neither 0 nor 1"},
		{"path,labels,truth:\na,x,1\n", "line 2, column \"truth\": a name is empty"},
		{"path,labels,truth,truth:x\na,x,x,1\n", "line 1: true labels are both"},
		{"path,labels,counts,counts:x\na,x,x:1,1\n", "line 1: counts are both"},
		{"path,labels,counts:x\na,x,1.5\n", "line 2, column \"counts:x\": \"1.5\" is no count"},
		{"path,labels,counts:x\na,x,-1\n", "\"x\" has the count -1"},
		{"path,labels,counts\na,x,dog\n", "dog:3;cat:1"},
		{"path,labels,counts\na,x,dog:300\n", "want 0 to 255"},
		{"path,labels,counts\na,x,dog:1;dog:2\n", "counted twice"},
		{"path,labels\na,d\x01g\n", "control character"},
		{"path,labels\na,d\xffg\n", "not UTF-8"},
		{"path,labels\na," + strings.Repeat("y", maxLabel+1) + "\n", "at most 1000"},
		{"path,labels\na,\"" + long + "\"\n", "more than 1048576 bytes"},
		{"{\"path\": \"" + long + "\"}", "longer than 1048576 bytes"},
		{"{\"path\": \"a\"}", "line 1, column \"labels\": it is missing; an empty list is []"},
		{"{\"path\": \"a\", \"labels\": null}", "null is neither a list of names"},
		{"{\"path\": \"a\", \"labels\": [null]}", "[null] is not a list of names"},
		{"{\"path\": \"a\", \"labels\": {\"dog\": 1}}", "{\"dog\": 1} is neither"},
		{"{\"path\": \"a\", \"labels\": [], \"counts\": {\"dog\": NaN}}", "line 1, not a JSON object"},
		{"{\"path\": \"a\", \"labels\": [], \"counts\": {\"dog\": 1.5}}", "column \"counts\""},
		{"{\"path\": \"a\", \"frames\": [\"b\"], \"labels\": []}", "one list of frames"},
		{"{\"path\": \"a\",\n\"labels\": []}", "whole on its line"},
	} {
		_, err := parseText("m.csv", c.content, Options{})
		refuse(t, c.content, err, c.says, `"m.csv"`)
	}
}

func TestParse_ColumnsThatAreChosen(t *testing.T) {
	const table = "path,l_dog,l_cat,height,split\na.jpg,1,0,480,odd\n"
	m, err := parseText("m", table, Options{LabelColumns: []string{"l_*"}, Ignore: []string{"split"}})
	if err != nil || m.named(m.Rows[0].Labels) != "l_dog" ||
		!slices.Equal(m.Columns.Labels, []string{"l_dog", "l_cat"}) ||
		!slices.Equal(m.Columns.Ignored, []string{"height", "split"}) || m.HasSplits() {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestManifest_VocabularyIsOfTrainingRows(t *testing.T) {
	m := parsed(t, "path,labels,split\na,cat;dog,train\nb,dog;emu;ape,train\nc,dog;yak;emu,test\nd,dog;yak,test\n")
	v, err := m.Vocabulary(10, 1)
	expect.OK(t, err)
	want := []text.Word{{Text: "dog", POS: text.Others, Count: 2}, {Text: "ape", POS: text.Others, Count: 1},
		{Text: "cat", POS: text.Others, Count: 1}, {Text: "emu", POS: text.Others, Count: 1}}
	if got := v.Words(); !slices.Equal(got, want) {
		t.Errorf("words %v, want %v", got, want)
	}
	if f := m.Foreign(v); !slices.Equal(f.Labels, []string{"yak"}) || f.Rows != 2 || f.Where != "line 4" {
		t.Errorf("foreign labels %+v, want yak on two rows from line 4", f)
	}
	if v, err := m.Vocabulary(10, 2); err != nil || v.Len() != 1 {
		t.Errorf("%v, %v; want the one label on two rows", v, err)
	}
	if few, err := m.Vocabulary(2, 1); err != nil || !slices.Equal(few.Texts(), []string{"dog", "ape"}) {
		t.Errorf("%v, %v; want the most frequent two", few, err)
	}
	if _, err := m.Vocabulary(10, 3); err == nil {
		t.Error("no label is on three rows")
	}
	s, err := m.Set(loader.TestSplit, v, 5, t.TempDir())
	expect.OK(t, err)
	if !slices.Equal(s.IDs, []string{"c", "d"}) || !slices.Equal(s.Labels.Uint8s(), []uint8{1, 0, 0, 1, 1, 0, 0, 0}) ||
		s.Truth != nil || s.Counts != nil {
		t.Errorf("set of %q with labels %v", s.IDs, s.Labels.Uint8s())
	}
	if s, err := m.Set(loader.ValidationSplit, v, 5, t.TempDir()); s != nil || err != nil {
		t.Errorf("a split without rows: %v, %v", s, err)
	}
}

// Every row has its labels, truth and counts in its own place of the matrices.
func TestManifest_TruthAndCountsOfASplit(t *testing.T) {
	m := parsed(t, "path,labels,split,truth,counts\na,dog,train,,\nb,dog,test,cat,dog:4\nc,cat;dog,test,-,cat:1;dog:2\n"+
		"d,ape;cat,test,dog,ape:5;cat:2\n")
	v, err := text.NewVocabulary([]text.Word{{Text: "cat"}, {Text: "dog"}})
	expect.OK(t, err)
	s, err := m.Set(loader.TestSplit, v, 5, t.TempDir())
	expect.OK(t, err)
	if !slices.Equal(s.Labels.Uint8s(), []uint8{0, 1, 1, 1, 1, 0}) ||
		!slices.Equal(s.Truth.Uint8s(), []uint8{1, 0, 0, 0, 0, 1}) ||
		!slices.Equal(s.Counts.Uint8s(), []uint8{0, 4, 1, 2, 2, 0}) || s.CaptionsPerSample != 5 {
		t.Errorf("labels %v, truth %v, counts %v", s.Labels, s.Truth, s.Counts)
	}
	if _, err := m.Set(loader.TestSplit, v, 3, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "`data.captions_per_sample`") {
		t.Errorf("four of three people: %v", err)
	}
	m.Rows[0].Split = loader.TestSplit
	if _, err := m.Set(loader.TestSplit, v, 5, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), `line 2, column "truth"`) {
		t.Errorf("truth of two rows of three: %v", err)
	}
}

func TestManifest_FindFiles(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "pictures")
	expect.OK(t, os.Mkdir(dir, 0o755))
	for _, name := range []string{"outside.png", "pictures/a.png", "pictures/b.png"} {
		expect.OK(t, os.WriteFile(filepath.Join(root, name), nil, 0o644))
	}
	if err := os.Symlink("b.png", filepath.Join(dir, "link.png")); err != nil {
		t.Skip(err)
	}
	expect.OK(t, os.Symlink("../outside.png", filepath.Join(dir, "out.png")))
	find := func(content string, leftOut func(error)) (*Manifest, error) {
		m := parsed(t, content)
		return m, m.FindFiles(t.Context(), dir, leftOut)
	}
	if m, err := find("path,labels\na.png,x\nlink.png,x\nout.png,x\n", nil); err != nil || len(m.Rows) != 3 {
		t.Errorf("links to files inside and outside: %v", err)
	}
	lists := "frames,labels\na.png|gone.png,x\nb.png,x\n"
	if _, err := find(lists, nil); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), `line 2: there is no file "gone.png" in `) {
		t.Errorf("a frame that is missing: %v", err)
	}
	var reported []error
	if m, err := find(lists, func(err error) { reported = append(reported, err) }); err != nil || len(reported) != 1 ||
		len(m.Rows) != 1 || m.Rows[0].ID != "b.png" {
		t.Errorf("rows %+v, reported %v, %v; want the row of b.png alone", m.Rows, reported, err)
	}
	if _, err := find("path,labels\ngone.png,x\n", func(error) {}); err == nil {
		t.Error("a manifest of which no row is left")
	}
}

// Tables may be written on other systems and in other folders than where they are read.
func TestManifest_FindFilesAsTheyAreWritten(t *testing.T) {
	root := folderWith(t, map[string]string{"table/cat/1.jpg": "", "table/cat/2.jpg": "", "table/cat/2.png": "",
		"table/v1.2/x.y.JPEG": "", "table/cat/a b%.png": "", "table/cat/C.jpg": "", "table/cat/c.JPG": "",
		"outside/3.jpg": ""})
	dir, outside := filepath.Join(root, "table"), filepath.ToSlash(filepath.Join(root, "outside", "3.jpg"))
	for written, want := range map[string]string{
		"cat/1.jpg": "cat/1.jpg", `cat\1.jpg`: "cat/1.jpg", "cat/1": "cat/1.jpg", `cat\1`: "cat/1.jpg",
		"v1.2/x.y": "v1.2/x.y.JPEG", "../outside/3.jpg": "../outside/3.jpg", outside: outside,
		strings.TrimSuffix(outside, ".jpg"): outside, `..\outside\3`: "../outside/3.jpg",
		filepath.ToSlash(dir) + "/cat/1.jpg": "cat/1.jpg", "cat/1.JPG": "cat/1.jpg", `cat\1.Jpg`: "cat/1.jpg",
		"v1.2/X.Y.jpeg": "v1.2/x.y.JPEG", "cat/a%20b%25.png": "cat/a b%.png", "cat/A%20b%25.PNG": "cat/a b%.png",
		"file://" + outside: outside,
	} {
		m, err := parseText("m.csv", "path,labels\n"+written+",x\n", Options{Images: dir})
		expect.OK(t, err)
		id := m.Rows[0].ID
		if err := m.FindFiles(t.Context(), dir, nil); err != nil || m.Rows[0].Files[0] != want || m.Rows[0].ID != id {
			t.Errorf("%s: %+v, %v; want the file %s", written, m.Rows, err, want)
		}
	}
	for written, want := range map[string]string{
		"cat/2":                           `line 2: "cat/2" may be .jpg or .png; write the ending`,
		"cat/c.jpg":                       `line 2: "cat/c.jpg" may be C.jpg or c.JPG; write the name as the file has it`,
		"cat":                             `line 2: "cat" is a folder`,
		"../4.jpg":                        `line 2: there is no file "../4.jpg" in "` + dir,
		"/nowhere/4.jpg":                  `line 2: there is no file "/nowhere/4.jpg"; complete`,
		"cat/1.jpg/2.jpg":                 `line 2: there is no file "cat/1.jpg/2.jpg" in `,
		"a\ab.jpg":                        `line 2: "a\ab.jpg" holds a control character`,
		"\xffb.jpg":                       `is not UTF-8`,
		strings.Repeat("x", 300) + ".jpg": `file name too long`,
	} {
		m := parsed(t, "path,labels\n"+written+",x\ncat/1.jpg,y\n")
		if err := m.FindFiles(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "1 of 2 rows has no ") {
			t.Errorf("%q: %v, want %s", written, err, want)
		}
		m, left := parsed(t, "path,labels\n"+written+",x\ncat/1.jpg,y\n"), 0
		if err := m.FindFiles(t.Context(), dir, func(error) { left++ }); err != nil || left != 1 || len(m.Rows) != 1 {
			t.Errorf("%q: %d rows are left out, %d stay, %v", written, left, len(m.Rows), err)
		}
	}
}

// To repair a picture, the user looks it up in the manifest.
func TestManifest_BrokenPicturesNameTheirRow(t *testing.T) {
	dir := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(dir, "a.png"), []byte("no picture"), 0o644))
	m := parsed(t, "path,labels,split\ngone.png,x,train\na.png,x,test\n")
	v, err := m.Vocabulary(1, 1)
	expect.OK(t, err)
	set, err := m.Set(loader.TestSplit, v, 5, dir)
	expect.OK(t, err)
	if err := set.Source.Read(t.Context(), 0, 0, new(picture.Picture)); !errors.Is(err, loader.ErrCorrupt) ||
		!strings.Contains(err.Error(), `m.csv, line 3: cannot decode "a.png"`) {
		t.Errorf("error %v", err)
	}
	expect.OK(t, os.Remove(filepath.Join(dir, "a.png")))
	if _, err := loader.ReadEncoded(t.Context(), set.Source, 0, 0, nil); !errors.Is(err, loader.ErrCorrupt) ||
		!strings.Contains(err.Error(), "m.csv, line 3: cannot read") {
		t.Errorf("error %v", err)
	}
}

// A manifest that can be read gives rows with files whose identifiers differ.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"path,labels,split\na.jpg,dog;cat,train\n", "frames\tdog\na|b\t1\n",
		"{\"path\": \"a\", \"labels\": [\"x\"], \"truth\": [], \"counts\": {\"x\": 2}}\n",
		"path;labels;truth;counts;id\na;\"x|y\";-;\"x:1\";1\n",
		"\ufeffpath,labels\n../a,x\n", "path,dog,truth:dog,counts:dog\na,1,0,3\nb,0,?,\n", "image,labels\na,x\n",
		`[{"path": "a.jpg", "labels": ["x"]}]`, `{"a.jpg": "x", "b.jpg": 3}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := parseText("fuzz", string(in), Options{})
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Fatalf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		ids := map[string]bool{}
		for _, r := range m.Rows {
			if ids[r.ID] || r.ID == "" || len(r.Files) == 0 {
				t.Fatalf("row %+v", r)
			}
			ids[r.ID] = true
			for _, list := range [][]int32{r.Labels, r.Truth} {
				if !slices.IsSorted(list) || len(list) > 0 && (list[0] < 0 || int(list[len(list)-1]) >= len(m.Labels)) {
					t.Fatalf("labels %v of %d", list, len(m.Labels))
				}
			}
		}
	})
}

func TestManifest_AssignsRowsToSplits(t *testing.T) {
	m := parsed(t, "path,labels\na,dog\nb,cat\nc,ape\n")
	if m.HasSplits() {
		t.Error("splits that nobody has given")
	}
	m.Assign(loader.ValidationSplit, []string{"a", "c"})
	m.Assign(loader.TrainSplit, []string{"b", "none"})
	want := []string{"a validate dog", "b train cat", "c validate ape"}
	if got := m.rows(); !slices.Equal(got, want) || !m.HasSplits() {
		t.Errorf("rows %q, want %q", got, want)
	}
	// The vocabulary comes from the training rows, though others come first.
	if v, err := m.Vocabulary(10, 1); err != nil || v.Len() != 1 || v.Word(0).Text != "cat" {
		t.Errorf("words %v, %v", v, err)
	}
}

// The column of the pictures may have any name if the user names it.
func TestParse_PathColumnThatIsChosen(t *testing.T) {
	for content, o := range map[string]Options{
		"Foto,label\na.jpg,dog\n":                        {PathColumn: "Foto"},
		"file,image,label\nx,a.jpg,dog\n":                {PathColumn: "image"},
		"path,thumb,label\nx,a.jpg,dog\n":                {PathColumn: "thumb"},
		"{\"Foto\": \"a.jpg\", \"label\": [\"dog\"]}":    {PathColumn: "Foto"},
		"{\"path\": 1, \"Foto\": \"a.jpg\", \"y\": [1]}": {PathColumn: "Foto"},
	} {
		m, err := parseText("m.csv", content, o)
		if err != nil || m.Rows[0].ID != "a.jpg" || len(m.Rows[0].Labels) != 1 {
			t.Errorf("%q: %+v, %v", content, m, err)
		}
		o.PathColumn = "foto"
		_, err = parseText("m.csv", content, o)
		refuse(t, content, err, "line 1", "\"foto\" (`data.path_column`)")
	}
}
