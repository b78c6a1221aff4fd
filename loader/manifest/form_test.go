package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var animals = strings.Fields("ant bear cat dog eel fox goat hen ibis jay")

// rowsOf is a CSV file of 40 rows with one to three animals each, stated by a function.
func rowsOf(column string, state func(names ...string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "path,%s\n", column)
	for i := range 40 {
		cell := state(animalsOf(i)...)
		fmt.Fprintf(&b, "%02d.jpg,\"%s\"\n", i, strings.ReplaceAll(cell, `"`, `""`))
	}
	return b.String()
}

func animalsOf(row int) []string {
	names := []string{animals[row%10]}
	for k := range row % 3 {
		names = append(names, animals[(row+1+k)%10])
	}
	return names
}

func joined(separator string) func(...string) string {
	return func(names ...string) string { return strings.Join(names, separator) }
}

func quoted(quote, between string) func(...string) string {
	return func(names ...string) string {
		return "[" + quote + strings.Join(names, quote+between+quote) + quote + "]"
	}
}

// All common ways of writing a list in one cell give the same labels.
func TestParse_FindsHowListsAreStated(t *testing.T) {
	for _, c := range []struct {
		name, column string
		state        func(...string) string
		form         Form
		separator    string
	}{
		{"semicolons", "labels", joined("; "), FormList, ";"},
		{"bars", "labels", joined("|"), FormList, "|"},
		{"commas", "tags", joined(","), FormCommas, ","},
		{"commas and blanks", "label", joined(", "), FormCommas, ","},
		{"blanks", "category", joined(" "), FormBlanks, " "},
		{"arrays of JSON", "labels", quoted(`"`, ", "), FormJSON, ""},
		{"arrays of Python", "labels", quoted("'", ", "), FormJSON, ""},
		{"arrays of NumPy", "labels", quoted("'", " "), FormJSON, ""},
		{"arrays without quotes", "labels", quoted("", ", "), FormJSON, ""},
	} {
		m := parsed(t, rowsOf(c.column, c.state))
		if m.Form != c.form || m.Separator != c.separator || m.LabelsColumn != c.column || m.JSONLines ||
			!strings.Contains(m.Describe(), " in the column "+c.column) {
			t.Errorf("%s: form %s, separator %q, column %q: %s", c.name, m.Form, m.Separator, m.LabelsColumn, m.Describe())
		}
		for i, r := range m.Rows {
			want := slices.Sorted(slices.Values(animalsOf(i)))
			if got := m.named(r.Labels); got != strings.Join(want, ",") {
				t.Errorf("%s, row %d: %s, want %s", c.name, i, got, want)
				break
			}
		}
	}
}

// A part that is in most lists shows that they are lists, however few of them differ.
func TestParse_CommasInMostCells(t *testing.T) {
	for name, content := range map[string]string{
		"Excel":      "filename;tags\r\na.jpg;cat, animal\r\nb.jpg;dog, animal\r\nc.jpg;cat, animal\r\n",
		"quotes":     "filename,tags\na.jpg,\"cat, animal\"\nb.jpg,\"dog, animal\"\n",
		"JSON lines": `{"file": "a.jpg", "tags": "cat, animal"}` + "\n" + `{"file": "b.jpg", "tags": "dog, animal"}`,
	} {
		m := parsed(t, content)
		if m.Form != FormCommas || m.named(m.Rows[1].Labels) != "animal,dog" || len(m.Labels) != 3 {
			t.Errorf("%s: %s, %q", name, m.Form, m.Labels)
		}
	}
	// Every list in the order of the classes, and no class in half of them.
	table, n := "filename;tags\n", 0
	for i := range 9 {
		for j := i + 1; j < 9; j++ {
			n++
			table += fmt.Sprintf("%d.jpg;class %d, class %d\n", n, i, j)
		}
	}
	if m := parsed(t, table); m.Form != FormCommas || len(m.Labels) != 9 {
		t.Errorf("%d lists of 9 classes: %s, %q", n, m.Form, m.Labels)
	}
}

// JSON lines may hold the same as text.
func TestParse_FindsHowJSONLinesStateLists(t *testing.T) {
	for _, c := range []struct {
		state func(i int) string
		want  Form
	}{
		{func(i int) string { return fmt.Sprintf("%q", strings.Join(animalsOf(i), ",")) }, FormCommas},
		{func(i int) string { return fmt.Sprintf("%q", strings.Join(animalsOf(i), " ")) }, FormBlanks},
		{func(i int) string { return quoted(`"`, ",")(animalsOf(i)...) }, FormJSON},
		{func(i int) string { return fmt.Sprintf("%q", quoted(`"`, ",")(animalsOf(i)...)) }, FormJSON},
	} {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, "{\"file\": \"%d.jpg\", \"tags\": %s}\n", i, c.state(i))
		}
		m := parsed(t, b.String())
		if m.Form != c.want || !m.JSONLines || m.LabelsColumn != "tags" || len(m.Labels) != 10 {
			t.Errorf("form %s of %q, want %s; labels %q", m.Form, m.LabelsColumn, c.want, m.Labels)
		}
		if got := m.Columns.String(); got != "JSON lines with path (file), tags" {
			t.Errorf("columns %q", got)
		}
	}
}

// A name that holds a separator is one label if nothing shows that it is a list.
func TestParse_LeavesNamesAlone(t *testing.T) {
	for what, names := range map[string][]string{
		"names of two words": {"traffic light", "stop sign", "dining table", "dog", "cat"},
		"people":             {"Smith, John", "Jones, Ann", "Brown, Eve", "Miller, Sam"},
		"synonyms":           {"tench, Tinca tinca", "goldfish, Carassius auratus", "great white shark, man-eater"},
	} {
		m := parsed(t, rowsOf("label", func(of ...string) string {
			return names[slices.Index(animals, of[0])%len(names)]
		}))
		if m.Form != FormSingle || len(m.Labels) != len(names) {
			t.Errorf("%s: form %s, labels %q", what, m.Form, m.Labels)
		}
	}
}

// Numbers are names themselves, or numbers of known words.
func TestParse_NumbersOfClasses(t *testing.T) {
	const table = "path,label\na.jpg,2\nb.jpg,0\nc.jpg,\nd.jpg,1.0\n"
	of := func(o Options) string {
		t.Helper()
		m, err := parseText("m.csv", table, o)
		if err != nil || m.Form != FormIntegers || m.LabelsColumn != "label" {
			t.Fatalf("%+v, %v", m, err)
		}
		return m.text()
	}
	if got := of(Options{}); got != "2 0  1" {
		t.Errorf("labels %q", got)
	}
	if got := of(Options{Words: []string{"ant", "bear", "cat"}}); got != "cat ant  bear" {
		t.Errorf("labels %q", got)
	}
	if got := of(Options{Words: []string{"2", "1", "0"}}); got != "2 0  1" {
		t.Errorf("words that are numbers themselves: labels %q", got)
	}
	m := parsed(t, "{\"path\": \"a.jpg\", \"label\": 3}\n{\"path\": \"b.jpg\", \"label\": 1}\n")
	if m.Form != FormIntegers || m.named(m.Rows[0].Labels) != "3" {
		t.Errorf("%s, %q", m.Form, m.Labels)
	}
}

// The words that the user names decide what a list is, and so do the classes of a model, which may lack some.
func TestParse_KnownWordsDecide(t *testing.T) {
	const table = "path,labels\na.jpg,\"a,b\"\nb.jpg,\"b,c\"\nc.jpg,\"c,a\"\n"
	for _, c := range []struct {
		words []string
		form  Form
	}{{nil, FormCommas}, {[]string{"a,b", "b,c", "c,a"}, FormSingle}, {[]string{"a", "b", "c"}, FormCommas},
		{[]string{"a,b", "b,c"}, FormSingle}, {[]string{"a", "c"}, FormCommas}} {
		m, err := parseText("m.csv", table, Options{Words: c.words})
		if err != nil || m.Form != c.form {
			t.Errorf("words %q: %+v, %v, want %s", c.words, m, err, c.form)
		}
	}
}

// Labels that can be read in two ways are refused, with the setting that decides.
func TestParse_RefusesWhatIsNotClear(t *testing.T) {
	for _, c := range []struct {
		content string
		says    []string
		forms   []Form // that decide
	}{
		{"path,label\na.jpg,0\nb.jpg,1\n", []string{"two classes", "`data.label_form`"}, []Form{FormIntegers, FormColumns}},
		{"path,labels\na.jpg,dog\nb.jpg,cat\nc.jpg,\"dog,cat\"\n", []string{`"dog,cat" is one label`, "commas", "single"},
			[]Form{FormCommas, FormSingle}},
		{"path,labels\na.jpg,\"Smith, J\"\nb.jpg,\"Smith, A\"\nc.jpg,\"Hill, B\"\nd.jpg,\"Hall, J\"\ne.jpg,\"Ash, D\"\n",
			[]string{`"Smith, J" is one label`, "5 of 5 different cells", "3 of these share"}, []Form{FormCommas, FormSingle}},
		{"path,labels\na.jpg,\"red shoe, wall\"\nb.jpg,\"table, window\"\nc.jpg,hat\n",
			[]string{`"red shoe, wall" is one label`, "2 of 3 different cells", "0 of these share"},
			[]Form{FormCommas, FormSingle}},
		{"path,labels\na.jpg,[dog]\nb.jpg,cat\n", []string{`"[dog]"`, `"cat"`, "json or single"}, []Form{FormSingle}},
		{"path,label,tags\na.jpg,dog,x\nb.jpg,cat,y\n", []string{`"label" and "tags"`, "`data.features.list_column`"}, nil},
		{"path,label\na.jpg,3\nb.jpg,-1\n", []string{"line 3", `"-1" is not the number`}, []Form{FormSingle}},
	} {
		_, err := parseText("m.csv", c.content, Options{})
		refuse(t, c.content, err, append(c.says, `"m.csv"`)...)
		for _, form := range c.forms {
			m, err := parseText("m.csv", c.content, Options{Form: form})
			if err != nil || m.Form != form {
				t.Errorf("%q as %s: %+v, %v", c.content, form, m, err)
			}
		}
	}
}

// Columns of 0 and 1 stay labels, whatever they are called.
func TestParse_ColumnsWithTheNamesOfLists(t *testing.T) {
	m := parsed(t, "path,dog,tag,class\na.jpg,1,0,1\nb.jpg,0,1,0\n")
	if m.Form != FormColumns || m.named(m.Rows[0].Labels) != "class,dog" || m.LabelsColumn != "" {
		t.Errorf("%s, %q", m.Form, m.named(m.Rows[0].Labels))
	}
	m, err := parseText("m", "path,what,labels\na.jpg,dog;cat,x\n", Options{ListColumn: "what"})
	if err != nil || m.LabelsColumn != "what" || m.named(m.Rows[0].Labels) != "cat,dog" {
		t.Errorf("%+v, %v", m, err)
	}
}

// True labels are parted as labels are.
func TestParse_TruthInTheFormOfLabels(t *testing.T) {
	m := parsed(t, "path,tags,truth\na,dog,\"dog,cat\"\nb,\"cat,dog\",?\nc,\"dog,ape\",-\nd,\"ape,cat\",ape\n")
	if m.Form != FormCommas || m.named(m.Rows[0].Truth) != "cat,dog" || m.Rows[1].Truth != nil || m.Rows[2].Truth == nil {
		t.Errorf("%s, %+v", m.Form, m.Rows)
	}
}

func TestParse_AbsolutePaths(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.ToSlash(filepath.Join(dir, "a", "1.jpg"))
	m, err := parseText("m.csv", "path,labels\n"+inside+",dog\n", Options{Images: dir})
	if err != nil || m.Rows[0].Files[0] != "a/1.jpg" || m.Rows[0].ID != "a/1.jpg" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, other := range []string{filepath.ToSlash(filepath.Dir(dir)) + "/x.jpg", inside + "/../../../x.jpg"} {
		m, err := parseText("m.csv", "path,labels\n"+other+",dog\n", Options{Images: dir})
		if err != nil || m.Rows[0].Files[0] != other || m.Rows[0].ID != other {
			t.Errorf("%s: %+v, %v", other, m, err)
		}
	}
}

// Programs spell 0 and 1 in several ways, and people put a cross or nothing.
func TestParse_ReadsSpellingsOfFlags(t *testing.T) {
	for _, pair := range flags {
		m := parsed(t, fmt.Sprintf("path,dog,cat\na.jpg,%s,%s\nb.jpg,%s,%s\n", pair[1], pair[0], pair[1], pair[1]))
		if m.Form != FormColumns || len(m.Rows[0].Labels) != 1 || len(m.Rows[1].Labels) != 2 {
			t.Errorf("%q: form %s, rows %v", pair, m.Form, m.Rows)
		}
	}
	for _, text := range []string{"path,dog,cat\na.jpg,1,\nb.jpg,x,x\n", "path,dog,cat\na.jpg,,\nb.jpg,,\n"} {
		_, err := parseText("m.csv", text, Options{})
		refuse(t, text, err, "line 2, column")
	}
	if m := parsed(t, "path,label\na.jpg,yes\nb.jpg,no\n"); m.Form != FormSingle {
		t.Errorf("classes yes and no have the form %s", m.Form)
	}
}

// Other programs part labels by characters that may also stand in a name: the parts recur then.
func TestParse_AsksAboutOtherSeparators(t *testing.T) {
	for _, separator := range []string{"/", "+", " & "} {
		text := rowsOf("tags", joined(separator))
		_, err := parseText("m.csv", text, Options{})
		refuse(t, separator, err, "write ; for it")
		if _, err := parseText("m.csv", text, Options{Form: FormSingle}); err != nil {
			t.Error(err)
		}
	}
	m := parsed(t, "path,label\na.jpg,on/off\nb.jpg,AC/DC\nc.jpg,R&B\nd.jpg,C++\n")
	if m.Form != FormSingle || len(m.Labels) != 4 {
		t.Errorf("form %s, labels %q", m.Form, m.Labels)
	}
}

func TestParse_NumbersAfterNames(t *testing.T) {
	words := Options{Words: []string{"cat", "dog", "emu", "fox"}}
	for name, c := range map[string]struct {
		text string
		o    Options
		want string
		form Form
	}{
		"one number": {text: "a.jpg 3\nsub dir/b 1.JPG 0\r\n\nc.png\t3\n",
			want: "1 a.jpg 3; 2 sub dir/b 1.JPG 0; 4 c.png 3", form: FormIntegers},
		"two classes": {text: "a.jpg 1\nb.jpg 0\n", want: "1 a.jpg 1; 2 b.jpg 0", form: FormIntegers},
		"words":       {text: "a.jpg 3\nb.jpg 0\n", o: words, want: "1 a.jpg fox; 2 b.jpg cat", form: FormIntegers},
		"words that are numbers": {text: "a.jpg 3\n", o: Options{Words: []string{"1", "3"}}, want: "1 a.jpg 3",
			form: FormIntegers},
		"several numbers": {text: "a.jpg 0 3\nb.jpg\nc.jpg 2\n", o: words, want: "1 a.jpg cat,fox; 2 b.jpg; 3 c.jpg emu",
			form: FormIntegers},
		"flags": {text: "a.jpg 0 0 1\nb.jpg 1 0 1\nc.jpg 0 0 0\n", want: "1 a.jpg 2; 2 b.jpg 2,0; 3 c.jpg",
			form: FormColumns},
		"named flags": {text: "a.jpg 0 0 1\nb.jpg 1 0 1\n", o: words, want: "1 a.jpg emu; 2 b.jpg emu,cat",
			form: FormColumns},
		"numbers that look like flags": {text: "a.jpg 0 1\nb.jpg 1 0\n", o: Options{Form: FormIntegers},
			want: "1 a.jpg 0,1; 2 b.jpg 0,1", form: FormIntegers},
		"pairs":  {text: "a.jpg 3\nb.jpg 2\na.jpg 2\n", want: "1 a.jpg 3,2; 2 b.jpg 2", form: FormPairs},
		"videos": {text: "Archery/v_Archery_g01_c01.avi 3\n", want: "1 Archery/v_Archery_g01_c01.avi 3", form: FormIntegers},
	} {
		m, err := parseText("list.txt", c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		says := map[Form]string{FormIntegers: "numbers after the name of the picture",
			FormColumns: "a 0 or 1 for each after the name of the picture",
			FormPairs:   "a line for each picture and number"}[c.form]
		if got := m.numbered(); got != c.want || m.Form != c.form || !m.Headless || !strings.Contains(m.Describe(), says) {
			t.Errorf("%s: %q of form %s, %s; want %q of form %s", name, got, m.Form, m.Describe(), c.want, c.form)
		}
	}
}

func TestParse_NumbersNameWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		want []string
	}{
		{"a.jpg 3\nb.jpg dog\n", Options{}, []string{"line 2: ", `"b.jpg dog"`, "path,labels"}},
		{"a.jpg 3\nb.jpg 0.5\n", Options{}, []string{"line 2: ", `"b.jpg 0.5"`}},
		{"a.jpg 3\nb.jpg -1\n", Options{}, []string{"line 2: ", `"-1" is not the number of a class`}},
		{"a.jpg 3\n", Options{Words: []string{"cat"}}, []string{"line 1: there is no class 3 among the 1 word of"}},
		{"a.jpg 3\n", Options{Form: FormCommas}, []string{"`data.label_form` commas", "want integers, columns or pairs"}},
		{"a.jpg 0 1\nb.jpg 1\n", Options{Form: FormColumns}, []string{"a 0 or 1 for each class", "set integers"}},
		{"a.jpg 3" + strings.Repeat(" 1", maxLine/2), Options{}, []string{"line 1: longer than"}},
	} {
		_, err := parseText("list.txt", c.text, c.o)
		refuse(t, c.text, err, c.want...)
	}
}

// Rows of one picture with a label each are one row with all of them.
func TestParse_RowsOfPicturesAndLabels(t *testing.T) {
	for name, content := range map[string]string{
		"names":                "filename,tag\na.jpg,cat\nb.jpg,dog\na.jpg,animal\nb.jpg,animal\nc.jpg,\n",
		"the same row twice":   "filename,tag\na.jpg,cat\nb.jpg,dog\na.jpg,animal\na.jpg,cat\nb.jpg,animal\nc.jpg,\n",
		"numbers of rows":      "id,filename,tag\n1,a.jpg,cat\n2,b.jpg,dog\n3,a.jpg,animal\n4,b.jpg,animal\n5,c.jpg,\n",
		"confidence":           "filename,tag,Confidence\na.jpg,cat,1\na.jpg,dog,0\nb.jpg,dog,.7\na.jpg,animal,1\nb.jpg,animal,1\nc.jpg,cat,0.0\n",
		"splits, and no order": "tag;filename;split\ncat;a.jpg;train\nanimal;a.jpg;train\ndog;b.jpg;test\nanimal;b.jpg;test\n;c.jpg;test\n",
		"JSON lines": `{"filename": "a.jpg", "tag": "cat"}` + "\n" + `{"filename": "b.jpg", "tag": "dog"}` + "\n" +
			`{"filename": "b.jpg", "tag": "animal"}` + "\n" + `{"filename": "a.jpg", "tag": "animal"}` + "\n" +
			`{"filename": "c.jpg", "tag": ""}`,
		"JSON lines with confidence": `{"filename": "a.jpg", "tag": "cat", "Confidence": 1}` + "\n" +
			`{"filename": "b.jpg", "tag": "dog", "Confidence": 0.5}` + "\n" +
			`{"filename": "b.jpg", "tag": "animal"}` + "\n" + `{"filename": "a.jpg", "tag": "animal"}` + "\n" +
			`{"filename": "c.jpg", "tag": "dog", "Confidence": 0}`,
	} {
		m := parsed(t, content)
		var rows []string
		for _, r := range m.Rows {
			rows = append(rows, r.ID+":"+m.named(r.Labels))
		}
		if got := strings.Join(rows, " "); got != "a.jpg:animal,cat b.jpg:animal,dog c.jpg:" || m.Form != FormPairs {
			t.Errorf("%s: %s, %s", name, m.Form, got)
		}
		if says := m.Describe(); !strings.Contains(says, ", a row for each picture and label, in the ") ||
			strings.Contains(says, "1 row repeats another row") != (name == "the same row twice") ||
			strings.Contains(says, "2 rows of confidence 0 give no label") != (name == "confidence") ||
			strings.Contains(says, "1 row of confidence 0 gives no label") != (name == "JSON lines with confidence") {
			t.Errorf("%s: %s", name, says)
		}
	}
}

// Numbers of classes come in pairs, too; columns and lists do not.
func TestParse_PairsOfNumbers(t *testing.T) {
	o := Options{Words: []string{"ant", "bear", "cat"}}
	m, err := parseText("m.csv", "path,y\na,2\na,0\nb,1.0\n", o)
	if err != nil || m.Form != FormPairs || m.named(m.Rows[0].Labels) != "ant,cat" || m.named(m.Rows[1].Labels) != "bear" {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = parseText("m.csv", "path,y\na,0\nb,1\n", Options{Form: FormPairs})
	if err != nil || m.Form != FormPairs || m.named(m.Rows[1].Labels) != "1" {
		t.Errorf("zeros and ones that are said to be pairs: %+v, %v", m, err)
	}
}

// A table of distinct pictures has one label for each, and rows that are declared to have one do not become pairs.
func TestParse_OneLabelEachIsNoPair(t *testing.T) {
	const one = "id,path,label\n1,a.jpg,cat\n2,b.jpg,dog\n"
	if m := parsed(t, one); m.Form != FormSingle || m.Rows[1].ID != "2" || len(m.Lines) != 0 {
		t.Errorf("%+v", m)
	}
	const twice = "id,path,label\n1,a.jpg,cat\n2,b.jpg,dog\n3,a.jpg,cat\n" // keeps its identifiers
	if m := parsed(t, twice); m.Form != FormSingle || len(m.Rows) != 2 || m.Rows[0].ID != "1" || m.Repeated != 1 {
		t.Errorf("%+v", m)
	}
	const repeated = "path,label\na.jpg,cat\nb.jpg,dog\na.jpg,cat\n"
	m := parsed(t, repeated)
	if m.Form != FormSingle || len(m.Rows) != 2 || m.Repeated != 1 || len(m.Lines) != 1 {
		t.Errorf("%+v", m)
	}
	for _, form := range []Form{FormSingle, FormCommas} {
		says := map[Form]string{FormSingle: "repeats line 2 with another label; remove one of the rows, or if each row has " +
			"one of several labels, set `data.label_form` pairs",
			FormCommas: "repeats line 2 with other content; make one row of the two"}[form]
		_, err := parseText("m.csv", "path,label\na.jpg,cat\na.jpg,dog\n", Options{Form: form})
		refuse(t, string(form), err, "line 3, column \"path\": \"a.jpg\" "+says)
	}
	crowd := "id,path,label\n1,a.jpg,cat\n2,a.jpg,dog\n" // rows with identifiers that are declared to name pictures
	if m, err := parseText("m.csv", crowd, Options{Form: FormSingle}); err != nil || len(m.Rows) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestParse_WholeJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"list": {"\n[\n  {\"image\": \"a.jpg\", \"labels\": [\"cat\", \"dog\"], \"split\": \"train\"},\n\n" +
			"  {\"image\": \"b.jpg\",\n \"labels\": [], \"split\": \"val\"}\n]\n", "3 a.jpg train cat,dog; 5 b.jpg validate"},
		"labels by names": {"{\"a.jpg\": [\"cat\", \"dog\"],\n\"b.jpg\": []}", "1 a.jpg cat,dog; 2 b.jpg"},
		"empty names":     {`{"a.jpg": ["cat"], "b.jpg": [""]}`, "1 a.jpg cat; 1 b.jpg"},
		"one label each":  {`{"a.jpg": "cat", "b.jpg": "dog"}`, "1 a.jpg cat; 1 b.jpg dog"},
		"numbers":         {`{"a.jpg": 3, "b.jpg": 0}`, "1 a.jpg 3; 1 b.jpg 0"},
		"objects by names": {"{\"a.jpg\": {\"labels\": [\"cat\"], \"split\": \"test\"},\n " +
			"\"b.jpg\": {\"split\": \"train\", \"labels\": [\"dog\"]}}", "1 a.jpg test cat; 2 b.jpg train dog"},
	} {
		m := parsed(t, c.text)
		if got := m.numbered(); got != c.want || !m.WholeJSON || m.JSONLines {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParse_WholeJSONNamesWhatIsWrong(t *testing.T) {
	row := `{"path": "a.jpg", "labels": ["cat"]}`
	for text, want := range map[string]string{
		"[":                                "line 1, the file ends early",
		"[" + row + ",\n":                  "line 1, the file ends early",
		"[" + row + "]\n\n[]":              "line 1, something follows",
		"[" + row + "\n" + row + "]":       "line 2, expected comma",
		"[\n3]":                            "line 2, row 1, not a JSON object",
		"[]":                               "there are no rows",
		"[" + row + ",\n" + `{"path": 3}]`: `line 2, row 2, column "labels": it is missing`,
		`{"a.jpg": ["cat"],` + "\n" + `"b.jpg": {"labels": 1.5}}`: "line 2, row 2, column \"labels\"",
		`{"a.jpg": ["cat"],` + "\n" + `"a.jpg": ["dog"]}`:         `"a.jpg" repeats line 1`,
		`[{"path": "` + strings.Repeat("x", 3<<20) + `"}]`:        "a row of more than",
	} {
		_, err := parseText("m.json", text, Options{})
		refuse(t, text, err, want)
	}
}

// One array of rows is read as the same rows as JSON lines, whatever the rows are.
func FuzzWholeJSON(f *testing.F) {
	f.Add([]byte(`{"path": "a.jpg", "labels": ["cat"]}`), []byte(`{"labels": "dog", "path": "b.jpg"}`))
	f.Add([]byte(`{"path": "a.jpg"}`), []byte(`[3]`))
	f.Add([]byte(`{"path": " ", "labels": []}`), []byte(`{"path": "b.jpg", "labels": []}`)) // a row at fault
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, row := range [][]byte{a, b} {
			if !json.Valid(row) || bytes.ContainsAny(row, "\r\n") || len(bytes.TrimSpace(row)) == 0 || row[0] != '{' {
				return
			}
		}
		lines, errLines := parseText("m", string(a)+"\n"+string(b), Options{})
		whole, err := parseText("m", "["+string(a)+",\n"+string(b)+"]", Options{})
		if lines != nil && lines.WholeJSON { // labels by the names of pictures
			return
		}
		if (errLines == nil) != (err == nil) {
			t.Fatalf("lines: %v, whole: %v", errLines, err)
		}
		if err == nil && !reflect.DeepEqual(lines.Rows, whole.Rows) {
			t.Errorf("rows %+v, and whole %+v", lines.Rows, whole.Rows)
		}
	})
}

// Next to the pictures there may be one column, whatever its name is, and rows of separators alone.
func TestParse_TheOnlyColumnHasTheLabels(t *testing.T) {
	for text, want := range map[string]string{
		"image;breed;;\na.jpg;pug;;\nb.jpg;pug;;\nc.jpg;boxer;;\nd.jpg;boxer;;\n;;;\n": "single pug pug boxer boxer",
		"image,level\na.jpg,4\nb.jpg,4\nc.jpg,2\nd.jpg,2\n":                            "integers 4 4 2 2",
		"image,dog\na.jpg,0\nb.jpg,1\nc.jpg,1\nd.jpg,0\n":                              "columns  dog dog ",
		"image,dog\na.jpg,no\nb.jpg,yes\nc.jpg,no\nd.jpg,no\n":                         "columns  dog  ",
		"image,tags\na.jpg,#pug #dog\nb.jpg,#pug #dog\n" +
			"c.jpg,#cat\nd.jpg,#cat\n": "blanks #dog,#pug #dog,#pug #cat #cat",
	} {
		m, err := Read(t.Context(), filepath.Join(folderWith(t, map[string]string{"l.csv": text}), "l.csv"), Options{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := string(m.Form) + " " + m.text(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"image,score\na.jpg,.5\nb.jpg,.5\nc.jpg,.25\nd.jpg,.25\n":    `".5" is neither 0 nor 1`,
		"image,note\na.jpg,old\nb.jpg,new\nc.jpg,lost\nd.jpg,old\n":  `"old" is neither 0 nor 1`,
		"image,breed,size\na.jpg,pug,3\nb.jpg,pug,3\nc.jpg,pug,3\n":  `"pug" is neither 0 nor 1`,
		"image,choice\na.jpg,pug\nb.jpg,{p}\nc.jpg,pug\nd.jpg,{p}\n": "or set `data.label_form` single",
		"image,dog,cat\na.jpg,1,-1\n":                                `"-1" is neither 0 nor 1; repair it, or if it means that the label`,
		"image,label\na.jpg,x\n,\n,y\n":                              `line 4, column "image": it is empty`,
	} {
		_, err := Read(t.Context(), filepath.Join(folderWith(t, map[string]string{"l.csv": text}), "l.csv"), Options{})
		refuse(t, text, err, want)
	}
}
