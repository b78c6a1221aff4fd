package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
	"nmn/labels/rates"
)

// hostile is a word that would end the script and start another, were it not escaped.
const hostile = `</script><script>alert("x")</script> & 'long' <b>`

func classOf(s audit.Suspect) int32 { return s.Class }

func auditedInput() *audit.Report {
	in := audit.Input{
		Bags: 3, Classes: 3, IDs: []string{"a.jpg", "b.jpg", hostile}, Words: []string{"cat", hostile, "unknown"},
		Logits: []float32{6, -7, 0, -6, 7, 0, 1, 8, 0}, Labels: []uint8{0, 1, 1, 0, 0, 1, 1, 0, 0},
		Rates: &labels.Rates{Q01: []float64{.2, .3, math.NaN()}, Q10: []float64{.1, .1, math.NaN()}},
	}
	r, err := audit.Run(in, .5)
	if err != nil {
		panic(err)
	}
	return &audit.Report{Input: in, Result: r, MinError: .5}
}

// pageData takes the data out of a page as a browser does: the text of the element, as it is. The page has nothing from
// elsewhere.
func pageData[T any](t *testing.T, page string) *T {
	t.Helper()
	elements := regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(elements) != 2 || elements[0][1] != ` id="data" type="application/json"` || elements[1][1] != "" {
		t.Fatalf("%d scripts, want the data and the program", len(elements))
	}
	sum := sha256.Sum256([]byte(elements[1][2]))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil || !strings.Contains(html.UnescapeString(policy[1]), "script-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'") ||
		strings.Contains(policy[1], "script-src 'unsafe-inline'") {
		t.Errorf("the policy %q lets another script run than that of the page", policy)
	}
	var p T
	expect.OK(t, json.Unmarshal([]byte(elements[0][2]), &p))
	has(t, page, `content="default-src 'none'; img-src data:;`)
	lacks(t, page, "http:", "https:", "//cdn", "@import", "url(", "fetch(", "<link", "innerHTML", "alert(\"x\")</script>")
	return &p
}

func TestAuditPage_HoldsTheSuspectsAndNothingFromElsewhere(t *testing.T) {
	r := auditedInput()
	asked := map[int]int{}
	picture := func(bag int) []byte {
		asked[bag]++
		if bag == 1 {
			return nil
		}
		return fmt.Appendf(nil, "jpeg %d", bag)
	}
	estimate := &rates.Result{Classes: []rates.Class{
		{Q01Interval: rates.Interval{Low: .1, High: .3}}, {},
		{Diagnoses: []rates.Diagnosis{rates.TooFew, rates.MaybeNoMissing}},
	}}
	r.Estimate = estimate
	page := NewAuditPage("name", r, 3, picture)
	got := pageData[AuditPage](t, said(t, page.Write))
	if len(got.Items) != 3 || got.Counts.Suspects != 4 || len(r.Suspects) != 4 {
		t.Fatalf("%d items of %d", len(got.Items), got.Counts.Suspects)
	}
	for i, item := range got.Items {
		s := mixed(r.Suspects, 3, classOf)[i]
		if item.ID != r.ID(int(s.Bag)) || item.Class != int(s.Class) || item.Kind != s.Kind() ||
			item.Given != s.Given || item.Wrong != s.Error() || item.P != s.P {
			t.Errorf("item %d is %+v, want %+v", i, item, s)
		}
		if (item.Image == nil) != (s.Bag == 1) || item.Image != nil &&
			got.Images[*item.Image] != jpegURL(fmt.Appendf(nil, "jpeg %d", s.Bag)) {
			t.Errorf("item %d has picture %v of %q", i, item.Image, got.Images)
		}
	}
	for bag, n := range asked {
		if n != 1 {
			t.Errorf("the picture of bag %d is asked for %d times", bag, n)
		}
	}
	if c := got.Classes[1]; c.Word != hostile || !c.Audited || c.Q01 != .3 {
		t.Errorf("class %+v", c)
	}
	if c := got.Classes[2]; c.Audited || c.Q01.Defined() || c.Q01Interval != nil ||
		c.Remarks != "too few labels; q01 may be 0" {
		t.Errorf("class of unknown rates %+v", c)
	}
	if c := got.Classes[0]; c.Q01Interval == nil || c.Q01Interval.High != .3 {
		t.Errorf("interval %+v", c.Q01Interval)
	}
}

func TestAuditPage_OfNothingIsAPage(t *testing.T) {
	r := auditedInput()
	r.Suspects = nil
	if got := pageData[AuditPage](t, said(t, NewAuditPage("name", r, 10, nil).Write)); len(got.Items) != 0 || got.Items == nil || got.Images == nil ||
		len(got.Classes) != 3 {
		t.Errorf("page %+v", got)
	}
}

// The page starts with the surest suspect of each class, whatever the class with most suspects. Half of the places go
// to the surest of all.
func TestMixed_TakesClassesInTurn(t *testing.T) {
	var all []audit.Suspect
	for i, class := range []int32{0, 0, 0, 0, 0, 0, 1, 2, 1} {
		all = append(all, audit.Suspect{Bag: int32(i), Class: class})
	}
	for n, want := range map[int][]int32{9: {0, 6, 7, 1, 8, 2, 3, 4, 5}, 6: {0, 6, 7, 1, 8, 2}, 4: {0, 6, 7, 1},
		1: {0}, 0: {}} {
		got := []int32{}
		for _, s := range mixed(all, n, classOf) {
			got = append(got, s.Bag)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d places: suspects %v, want %v", n, got, want)
		}
	}
}

// The page shows the sentences with the counts that the command line prints.
func TestAuditPage_SaysWhatTheTablesSay(t *testing.T) {
	r := auditedInput()
	r.Samples = "pictures"
	tables := AuditTables(r, 0, 0)
	page := NewAuditPage("name", r, 1, nil)
	if len(page.Summary) == 0 || !reflect.DeepEqual(page.Summary, tables[0].Notes[:len(page.Summary)]) ||
		!strings.HasPrefix(page.Summary[0], "3 pictures have 4 labels. 4 of 6 audited labels") {
		t.Errorf("the page has %q, the tables have %q", page.Summary, tables[0].Notes)
	}
}

// The browser keeps decisions by the key: other suspects must have another.
func TestAuditPage_KeyTellsAuditsApart(t *testing.T) {
	r := auditedInput()
	key := NewAuditPage("a", r, 10, nil).Key
	if NewAuditPage("b", r, 10, nil).Key != key {
		t.Error("the name of the file changes the key")
	}
	if NewAuditPage("a", r, 2, nil).Key == key {
		t.Error("other suspects have the same key")
	}
}

func TestAuditTables_ShowWhatIsUnknownAsDashes(t *testing.T) {
	r := auditedInput()
	has(t, written(t, CSV, suspectTable(r, r.Suspects), auditClassTable(r, 0)), "\na.jpg,cat,missing,0.988968663,0.9975273768,0.2,0.1\n",
		"\nunknown,2,,,,,,,no rates given\n", "\ncat,1,")
	if t1 := auditClassTable(r, 1); len(t1.Rows) != 1 || t1.Rows[0].Cells[0].Text != hostile ||
		len(t1.Notes) != 2 {
		t.Errorf("the noisiest class is %+v", t1)
	}
	r.Result.Classes[1].Pooled = true
	if t1 := auditClassTable(r, 1); t1.Rows[0].Cells[0].Text != "cat" {
		t.Errorf("the noisiest class with rates of its own is %+v", t1)
	}
	r.Result.Classes[1].Pooled = false
	table := auditClassTable(r, 0)
	if len(table.Notes) != 1 || !strings.Contains(table.Notes[0], "1 of 3 classes are not audited") {
		t.Errorf("notes %q", table.Notes)
	}
	estimate := &rates.Result{Classes: make([]rates.Class, 3)}
	r.Estimate = estimate
	for c := range r.Result.Classes {
		if class := &r.Result.Classes[c]; !class.Audited {
			estimate.Classes[c].Diagnoses = []rates.Diagnosis{rates.TooFew, rates.MostlyPooled}
			for _, of := range []struct {
				positives int
				why       string
			}{{0, "on no sample"}, {r.Bags, "on every sample"}, {1, "too few labels"}} {
				class.Positives = of.positives
				cells := auditClassTable(r, 0).Rows[c].Cells
				if got := cells[len(cells)-1].Text; got != of.why {
					t.Errorf("%d labels: not audited for %q, want %q", of.positives, got, of.why)
				}
			}
		}
	}
}

func TestRateEstimateTable_LeavesOutWhatIsNotKnown(t *testing.T) {
	r := &rates.Result{Bags: 10, Confidence: .9, Classes: []rates.Class{
		{Word: "cat", Positives: 4, Q01: .25, AUC: eval.Undefined(), Diagnoses: []rates.Diagnosis{rates.TooFew}},
	}}
	known := &rates.Result{Bags: 10, Confidence: .9, Classes: append(r.Classes, rates.Class{Word: "dog", Q01: .25})}
	if of := RateEstimateTable(known, nil, nil); !math.IsNaN(float64(of.Rows[0].Cells[3].Value)) ||
		of.Rows[1].Cells[3].Value != .25 ||
		of.Rows[0].Cells[len(of.Columns)-1].Text != "not estimated: too few labels" {
		t.Errorf("a class without an estimate beside one with: %+v", of.Rows)
	}
	table := RateEstimateTable(r, nil, nil)
	var names []string
	for _, c := range table.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"label", "labels", "true, est.", "a", "b", "remarks"}; !reflect.DeepEqual(names, want) {
		t.Errorf("columns %q", names)
	}
	if len(table.Notes) != 2 || !strings.Contains(table.Notes[0], "90 %") ||
		strings.Contains(table.Notes[0], "All classes") || !strings.Contains(table.Notes[1], "none of 1") {
		t.Errorf("notes %q", table.Notes)
	}
	table = RateEstimateTable(r, &labels.Rates{Q01: []float64{.2}, Q10: []float64{.1}}, []float64{.3})
	if len(table.Columns) != 9 {
		t.Errorf("%d columns with truth and thresholds", len(table.Columns))
	}
}

// One label is wrong, which is too few to find noise: the tables say that it is unknown, and that there is a suspect
// all the same.
func TestClassAuditTables_SayThatNoiseIsUnknown(t *testing.T) {
	in := &multiclass.Input{Classes: 2}
	for i := range 40 {
		p := .8 + .004*float32(i)
		if i%2 == 1 {
			p = 1 - p
		}
		in.Scores = append(in.Scores, p, 1-p)
		in.Labels = append(in.Labels, int32(i%2))
		in.Rows++
	}
	in.Labels[24] = 1
	for least, says := range map[float64][]string{
		.5: {"0 of 40 labels are wrong with a probability of at least 0.5", "Suspects with the labels that confident learning flags: 1.",
			"show no noise",
			"The suspects are the labels that confident learning flags."},
		.9: {"0 of 40 labels are wrong with a probability of at least 0.9", "show no noise"},
	} {
		o := multiclass.DefaultOptions()
		o.MinError = least
		r := expect.Value(multiclass.Audit(t.Context(), in, o))(t)
		text := strings.Join(strings.Fields(written(t, Text, ClassAuditTables(r, 1, 0)...)), " ")
		has(t, text, says...)
		if strings.Contains(text, "labels that confident learning flags") != (least <= multiclass.FlaggedToo) {
			t.Errorf("%g: %s", least, text)
		}
	}
}

// The tables warn of p(wrong) only if what nets confuse counts as noise.
func TestClassAuditTables_WarnOfWhatNetsConfuse(t *testing.T) {
	r := exclusiveReport(t, .5)
	for _, r.Memorised = range []bool{false, true} {
		text := strings.Join(strings.Fields(written(t, Text, ClassAuditTables(r, 1, 0)...)), " ")
		if warned := strings.Contains(text, "not calibrated"); warned != r.Memorised {
			t.Errorf("memorised %t: the warning is there: %t", r.Memorised, warned)
		}
	}
}

// exclusiveReport has three classes. Every tenth sample of class 0 is labelled 1.
func exclusiveReport(t *testing.T, least float64) *multiclass.Report {
	t.Helper()
	in := &multiclass.Input{Classes: 3, Words: []string{"cat", hostile, "cow"}}
	for i := range 3000 {
		p, z := [3]float32{.02, .02, .02}, int32(i%3)
		p[z] = .96
		if i%30 == 0 {
			z = 1
		}
		in.Scores, in.Labels, in.IDs = append(in.Scores, p[:]...), append(in.Labels, z), append(in.IDs, fmt.Sprint("row", i))
		in.Rows++
	}
	o := multiclass.DefaultOptions()
	o.MinError, o.Plateau = least, true
	return expect.Value(multiclass.Audit(t.Context(), in, o))(t)
}

// The page has each suspect without a decision that has another class suggested, with both classes and its picture.
func TestClassPage_SuggestsAnotherClass(t *testing.T) {
	r := exclusiveReport(t, .5)
	r.Decisions = multiclass.Decisions{0: 0, 30: 1}
	var asked []int
	p := NewClassPage("name", r, 5, func(row int) []byte {
		asked = append(asked, row)
		return []byte("jpeg")
	})
	page := said(t, p.Write)
	got := pageData[AuditPage](t, page)
	if !got.Exclusive || got.Counts.Suspects != 100 || got.Counts.Open != 98 || len(got.Items) != 5 ||
		len(got.Images) != 5 || len(asked) != 5 {
		t.Fatalf("%d items and %d pictures of %+v, %d asked for", len(got.Items), len(got.Images), got.Counts, len(asked))
	}
	for _, item := range got.Items {
		if item.ID == "row0" || item.ID == "row30" || item.Class != 1 || item.Suggested == nil || *item.Suggested != 0 ||
			item.P < .5 {
			t.Errorf("item %+v", item)
		}
	}
	if got.Decided != "You have decided on 2 labels, and found 1 of them wrong." {
		t.Errorf("decided: %q", got.Decided)
	}
	if c := got.Classes[0]; c.Labels != 900 || len(c.Lines) != 2 ||
		!strings.Contains(c.Lines[1], "9.7 % are labelled "+hostile) {
		t.Errorf("class %+v", c)
	}
	lacks(t, page, "Kind of error", "any kind, incorrect")
	if key := NewClassPage("other", r, 5, nil).Key; key != got.Key {
		t.Error("the name changes the key")
	}
	for i := range r.Suspects {
		r.Suspects[i].Suggested = 2
	}
	if key := NewClassPage("name", r, 5, nil).Key; key == got.Key {
		t.Error("other suggestions have the same key")
	}
}

// Suspects without another class are counted, and left out.
func TestClassPage_LeavesOutSuspectsWithoutAnotherClass(t *testing.T) {
	p := NewClassPage("name", exclusiveReport(t, 0), 500, nil)
	if len(p.Items) != 100 || p.Counts.Suspects != 3000 || !strings.Contains(strings.Join(p.Summary, " "),
		"leaves out 2900 of them") {
		t.Errorf("%d items of %d; %q", len(p.Items), p.Counts.Suspects, p.Summary)
	}
}
