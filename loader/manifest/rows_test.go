package manifest

import (
	"slices"
	"testing"

	"nmn/loader"
)

func TestManifest_AssignsRowsToSplits(t *testing.T) {
	m := parsed(t, "path,labels\na,dog\nb,cat\nc,ape\n")
	if m.HasSplits() {
		t.Error("splits that nobody has given")
	}
	m.Assign(loader.ValidationSplit, []string{"a", "c"})
	m.Assign(loader.TrainSplit, []string{"b", "none"})
	var got []string
	for _, r := range m.Rows {
		got = append(got, r.ID+" "+r.Split)
	}
	if want := []string{"a validate", "b train", "c validate"}; !slices.Equal(got, want) || !m.HasSplits() {
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
