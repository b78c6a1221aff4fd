package report

import "testing"

// The page has every class and each picture once, and text that would end its script does no harm.
func TestCheckPage_HoldsPicturesAndClasses(t *testing.T) {
	r, asked := auditedInput(), map[int]int{}
	write := NewCheckPage("name", r, func(bag int) []byte {
		asked[bag]++
		if bag == 1 {
			return nil
		}
		return []byte("jpeg")
	}).Write
	got := pageData[CheckPage](t, said(t, write))
	ids := map[string]bool{}
	for _, item := range got.Items {
		ids[item.ID] = item.Image != nil
	}
	if len(got.Items) != 3 || !ids["a.jpg"] || ids["b.jpg"] || !ids[hostile] || len(asked) != 3 || asked[1] != 1 ||
		len(got.Images) != 2 || len(got.Classes) != 3 || got.Classes[1] != hostile {
		t.Errorf("%+v, pictures asked for: %v", got, asked)
	}
	if NewCheckPage("other", r, func(int) []byte { return nil }).Key != got.Key {
		t.Error("the browser would forget the labels of the same pictures")
	}
	r.Words[0] = "dog"
	if NewCheckPage("name", r, func(int) []byte { return nil }).Key == got.Key {
		t.Error("labels of other classes have the same key")
	}
	has(t, said(t, write), "Label check", "verified.jsonl", "nmn audit … --verified verified.jsonl")
}
