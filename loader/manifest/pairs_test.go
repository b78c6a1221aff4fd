package manifest

import (
	"strings"
	"testing"
)

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

// A table of distinct pictures has one label for each, and rows that are declared to have one do not become
// pairs.
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
