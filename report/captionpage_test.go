package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/misplaced"
	"nmn/loader/annotation"
)

// hostileCaption is a caption that would end the script, turn the line around, and fill the page.
const hostileCaption = " " + hostile + " \u202e \x1b[2J a\nbox \"of\" nothing "

// auditedCaptions are 300 bags of five captions about one of six things; 15 in 100 captions are about another. The
// third caption of bag 3 is hostile too, and that of bag 6 of 10,000 characters.
func auditedCaptions(t *testing.T) *misplaced.Report {
	t.Helper()
	things := []string{"dog grass ball park runs", "train tracks station smoke rails",
		"cake candles table knife frosting", "surfer wave board ocean wetsuit", "kitchen oven sink cabinets counter",
		"giraffe zoo fence trees neck"}
	random := rng.New(3)
	b := &annotation.Bags{Name: "c", Form: annotation.FormCSV}
	for i := range 300 {
		b.IDs, b.Files = append(b.IDs, fmt.Sprintf("<b>%d</b>", i)), append(b.Files, "")
		var of []annotation.BagCaption
		for c := range 5 {
			about := i % 6
			if (i == 3 || i == 6) && c == 2 || random.Float64() < .15 {
				about = (i + 1 + random.Intn(5)) % 6
			}
			order := []int{0, 1, 2, 3, 4}
			random.Shuffle(order)
			text := "a picture of the"
			for _, at := range order[:3] {
				text += " " + strings.Fields(things[about])[at]
			}
			of = append(of, annotation.BagCaption{ID: fmt.Sprintf("%d-%d", i, c), Text: text})
		}
		b.Captions = append(b.Captions, of)
	}
	b.Captions[3][2].Text += hostileCaption
	b.Captions[6][2].Text = strings.Repeat(b.Captions[6][2].Text+" ", 300)
	return expect.Value(misplaced.Audit(t.Context(), b, misplaced.DefaultAuditOptions()))(t)
}

func TestCaptionPage_HoldsSuspectsWithTheirBags(t *testing.T) {
	r := auditedCaptions(t)
	asked := map[int]int{}
	page := NewCaptionPage("name", r, CaptionPageOptions{Items: 200, MinError: .5,
		Decisions: misplaced.Decisions{"6-2": misplaced.Keep},
		Picture: func(bag int) []byte {
			asked[bag]++
			if bag == 3 {
				return []byte("jpeg")
			}
			return nil
		}})
	got := pageData[CaptionPage](t, said(t, page.Write))
	if len(got.Items) != 200 || got.Total <= 200 || got.Captions != 1500 {
		t.Fatalf("%d items of %d", len(got.Items), got.Total)
	}
	for i, item := range got.Items {
		bag := got.Bags[item.Bag]
		if item.ID == "6-2" || bag.Captions[item.At].Own != item.Own || len(bag.Captions) != 5 ||
			i > 0 && got.Items[i-1].Own > item.Own {
			t.Errorf("item %d is %+v of %+v", i, item, bag)
		}
	}
	at := slices.IndexFunc(got.Items, func(i CaptionItem) bool { return i.ID == "3-2" })
	if at < 0 {
		t.Fatal("the hostile caption is not among the suspects")
	}
	item := got.Items[at]
	shown := got.Bags[item.Bag].Captions[item.At].Text
	if want := hostile + ` \u202e \x1b[2J a box "of" nothing`; !strings.HasSuffix(shown, want) ||
		item.Fingerprint != misplaced.Fingerprint(r.Captions[3][2].Text) {
		t.Errorf("the hostile caption is %q", shown)
	}
	if image := got.Bags[item.Bag].Image; image == nil || len(got.Images) != 1 ||
		got.Images[*image] != jpegURL([]byte("jpeg")) {
		t.Errorf("picture %v of %q", image, got.Images)
	}
	for bag, n := range asked {
		if n != 1 {
			t.Errorf("the picture of bag %d is asked for %d times", bag, n)
		}
	}
}

func TestCaptionPage_OfNothingIsAPage(t *testing.T) {
	page := NewCaptionPage("name", auditedCaptions(t), CaptionPageOptions{})
	if got := pageData[CaptionPage](t, said(t, page.Write)); got.Items == nil || len(got.Items) != 0 || got.Bags == nil ||
		got.Images == nil {
		t.Errorf("%+v", got)
	}
}

// The browser keeps decisions by the key: other suspects, and the same with another text, must have another.
func TestCaptionPage_KeyTellsAuditsApart(t *testing.T) {
	r := auditedCaptions(t)
	o := CaptionPageOptions{Items: 5}
	key := NewCaptionPage("a", r, o).Key
	if NewCaptionPage("b", r, o).Key != key {
		t.Error("the name of the file changes the key")
	}
	if NewCaptionPage("a", r, CaptionPageOptions{Items: 4}).Key == key {
		t.Error("other suspects have the same key")
	}
	first := r.Lowest(1)[0]
	r.Captions[first[0]][first[1]].Text += "!"
	if NewCaptionPage("a", r, o).Key == key {
		t.Error("another text has the same key")
	}
}

func TestShownCaption_IsShort(t *testing.T) {
	long := shownCaption(strings.Repeat("ø", 10_000), .5)
	if long.Cut != 9_500 || long.Text != strings.Repeat("ø", 500) {
		t.Errorf("%d characters are cut off and %q left", long.Cut, long.Text)
	}
	if short := shownCaption(strings.Repeat("ø", 500), .5); short.Cut != 0 || len(short.Text) != 1000 {
		t.Errorf("%+v", short)
	}
}

func TestCaptionAuditTables_SayWhatIsDroppedAndWhyNot(t *testing.T) {
	r := auditedCaptions(t)
	outcome := &misplaced.Outcome{File: "kept.csv", Kept: 1, Dropped: 3, Automatic: 1, Decided: 2, Rescued: 4,
		EmptyBags: 5}
	has(t, strings.Join(strings.Fields(written(t, Text, CaptionAuditTables(r, 3, outcome)...)), " "),
		"kept.csv has 1 captions. 3 are dropped (1 by probability, 2 by your decisions; your decisions keep 4 more)",
		"Pictures without a caption left: 5.", "p(own) text words against it", "<b>")
	r.Refusal = "for a reason"
	text := written(t, Text, CaptionAuditTables(r, 0, nil)...)
	has(t, text, "Nothing is dropped: for a reason.")
	lacks(t, text, "least probably")
}

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
