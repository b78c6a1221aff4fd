package annotation

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
)

const smallInstances = `{"info": {"year": 2017}, "annotations": [
 {"id": 1, "image_id": 7, "category_id": 18, "segmentation": [[1.5, 2, 3]], "bbox": [0, 0, 1, 1], "iscrowd": 0},
 {"id": 2, "image_id": 7, "category_id": 3, "segmentation": {"counts": "a\"]}", "size": [1, 2]}, "iscrowd": 1},
 {"id": 3, "image_id": 7, "category_id": 18},
 {"id": 4, "image_id": 9, "category_id": 90}],
 "categories": [{"id": 3, "name": "car"}, {"id": 18, "name": "dog"}, {"id": 90, "name": "car"}],
 "images": [{"id": 7, "file_name": "a/7.jpg", "height": 1, "width": 2}, {"id": 8, "file_name": "8.jpg"},
  {"id": 9, "file_name": "./9.jpg"}]}`

func TestParseInstances(t *testing.T) {
	found, err := parseInstances("i.json", strings.NewReader(smallInstances))
	expect.OK(t, err)
	if !slices.Equal(found.Categories, []string{"car", "dog"}) {
		t.Errorf("categories %q", found.Categories)
	}
	want := []InstanceImage{{7, "a/7.jpg", []int32{0, 1}}, {8, "8.jpg", nil}, {9, "9.jpg", []int32{0}}}
	for i, image := range found.Images {
		if image.ID != want[i].ID || image.FileName != want[i].FileName ||
			!slices.Equal(image.Categories, want[i].Categories) {
			t.Errorf("image %+v, want %+v", image, want[i])
		}
	}
}

func TestParseInstances_ErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{smallInstances, smallInstances[:400], "end early"},
		{`"image_id": 9`, `"image_id": 10`, "annotations[3] (near byte 311): image_id 10 is that of no image"},
		{`"category_id": 90`, `"category_id": 91`, "category_id 91 is that of no category"},
		{`"image_id": 9, `, ``, "annotations[3]"},
		{`"id": 8,`, `"id": 7,`, "id 7 repeats images[0]"},
		{`"8.jpg"`, `"9.jpg"`, `file_name "9.jpg" repeats images[1]`},
		{`"8.jpg"`, `"../8.jpg"`, "not a path inside"},
		{`"8.jpg"`, `"/etc/passwd"`, "not a path inside"},
		{`"id": 90,`, `"id": 18,`, "id 18 repeats categories[1]"},
		{`{"id": 3, "name": "car"}`, `{"id": 3}`, `category 3: "name" is missing`},
		{`"categories"`, `"kinds"`, `there is no "categories"`},
		{`"id": 7,`, `"id": "x",`, `images[0]`},
		{`"images": [`, `"images": [], "more": [`, "there are no images"},
	} {
		content := strings.Replace(smallInstances, c.old, c.new, 1)
		_, err := parseInstances("i.json", strings.NewReader(content))
		if err == nil || !errors.Is(err, loader.ErrAnnotations) || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), `instances "i.json"`) {
			t.Errorf("%.40q: %v, want %q", c.new, err, c.says)
		}
	}
}

// Outlines take no memory: a file of 50 MB of them is read in a small part of that.
func TestParseInstances_MemoryOfLabelsAlone(t *testing.T) {
	outline := strings.Repeat("123.45,67.89,", 400) + "1,2"
	const objects = 10_000
	parts := []io.Reader{strings.NewReader(`{"categories": [{"id": 1, "name": "dog"}], "images": [`)}
	for i := range 100 {
		parts = append(parts, strings.NewReader(fmt.Sprintf(`%s{"id": %d, "file_name": "%d.jpg"}`,
			map[bool]string{true: ",", false: ""}[i > 0], i, i)))
	}
	parts = append(parts, strings.NewReader(`], "annotations": [`))
	for i := range objects {
		parts = append(parts, strings.NewReader(map[bool]string{true: ",", false: ""}[i > 0]),
			strings.NewReader(fmt.Sprintf(`{"id": %d, "image_id": %d, "category_id": 1, "segmentation": [[`, i, i%100)),
			strings.NewReader(outline), strings.NewReader(`]]}`))
	}
	parts = append(parts, strings.NewReader("]}"))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := parseInstances("i.json", io.MultiReader(parts...))
	expect.OK(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes are kept of %d", grown, objects*len(outline))
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(objects*len(outline)) {
		t.Errorf("%d bytes are taken in all, for %d objects", allocated, objects)
	}
	if len(found.Images) != 100 || !slices.Equal(found.Images[99].Categories, []int32{0}) {
		t.Errorf("%d images", len(found.Images))
	}
}

func FuzzParseInstances(f *testing.F) {
	f.Add([]byte(smallInstances))
	f.Add([]byte(`{"images": [{"id": 1, "file_name": ""}], "annotations": [], "categories": [{"id": null}]}`))
	f.Add([]byte(`{"images": [[[[`))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := parseInstances("i", strings.NewReader(string(content)))
		if err != nil {
			return
		}
		for _, image := range found.Images {
			for _, k := range image.Categories {
				if int(k) >= len(found.Categories) {
					t.Errorf("category %d of %d", k, len(found.Categories))
				}
			}
		}
	})
}
