package relabel

import (
	"errors"
	"strings"
	"testing"

	"nmn/loader/manifest"
)

const instances = `{"info": {"x": [1, 2]}, "images": [{"id": 7, "file_name": "a.jpg", "width": 64, "height": 48},
 {"id": 9, "file_name": "b.jpg", "width": 10, "height": 10}],
 "annotations": [{"id": 1, "image_id": 7, "category_id": 2, "bbox": [1,2,3,4]},
 {"id": 5,"image_id": 7,"category_id": 3},
 {"id": 6, "image_id": 9, "category_id": 2}, {"id": 8, "image_id": 7, "category_id": 2}],
 "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 3, "name": "bird"}]}
`

func cocoCorrected(t *testing.T, l Labels) (string, int, error) {
	t.Helper()
	from, to := written(t, "instances.json", instances)
	m := &manifest.Manifest{File: from, Form: manifest.FormCOCO, Rows: []manifest.Row{{ID: "7", Files: []string{"a.jpg"}},
		{ID: "9", Files: []string{"b.jpg"}}}}
	rows, err := COCO(t.Context(), m, l, to)
	if err != nil {
		return "", 0, err
	}
	return contentOf(t, to), rows, nil
}

// The dog of a.jpg was wrong, and a cat is missing: both annotations of dogs go, and one of a cat comes.
func TestCOCO_TakesAnnotationsAwayAndAddsOnes(t *testing.T) {
	got, rows, err := cocoCorrected(t, Labels{Words: []string{"cat", "dog"}, Rows: map[string][]uint8{"7": {1, 0}}})
	if err != nil || rows != 1 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	head, tail, _ := strings.Cut(instances, `[{"id": 1, "image_id": 7`)
	_, tail, _ = strings.Cut(tail, "}],\n \"categories\"")
	if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, "],\n \"categories\""+tail) {
		t.Errorf("other parts have changed:\n%s", got)
	}
	for _, want := range []string{`{"id": 5,"image_id": 7,"category_id": 3}`, `{"id": 6, "image_id": 9, "category_id": 2}`,
		`"bbox":[0,0,64,48]`, `"category_id":1`, `"id":9`, `"image_id":7`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not there:\n%s", want, got)
		}
	}
	if strings.Contains(got, `"id": 1, "image_id": 7`) || strings.Contains(got, `"id": 8,`) {
		t.Errorf("a wrong label is still there:\n%s", got)
	}
	same, rows, err := cocoCorrected(t, Labels{Words: []string{"cat", "dog"}, Rows: map[string][]uint8{"9": {0, 1}}})
	if err != nil || rows != 0 || strings.Count(same, `"image_id"`) != 4 {
		t.Errorf("nothing to correct: %d rows, %v\n%s", rows, err, same)
	}
}

func TestCOCO_RefusesLabelsWithoutCategory(t *testing.T) {
	_, _, err := cocoCorrected(t, Labels{Words: []string{"fish"}, Rows: map[string][]uint8{"7": {1}}})
	if !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), `"fish"`) {
		t.Error(err)
	}
}

// The reader trims blanks around names and "./" of paths, and the corrections use the trimmed names.
func TestCOCO_KnowsNamesAsTheyWereRead(t *testing.T) {
	from, to := written(t, "instances.json", `{"images": [{"id": 7, "file_name": "./x/../a.jpg", "width": 64, "height": 48}],
 "annotations": [{"id": 1, "image_id": 7, "category_id": 2}],
 "categories": [{"id": 1, "name": "cat "}, {"id": 2, "name": " dog"}]}`)
	m, err := manifest.Read(t.Context(), from, manifest.Options{})
	check(t, err)
	fixed := Labels{Words: []string{"cat", "dog"}, Rows: map[string][]uint8{m.Rows[0].ID: {1, 0}}}
	if rows, err := COCO(t.Context(), m, fixed, to); err != nil || rows != 1 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	again, err := manifest.Read(t.Context(), to, manifest.Options{})
	check(t, err)
	if got := namesOf(again, &again.Rows[0]); len(got) != 1 || got[0] != "cat" {
		t.Errorf("the labels are %q, want cat alone", got)
	}
}
