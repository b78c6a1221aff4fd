package misplaced

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader/annotation"
)

// dataFile is a file in the folder of real data, whose absence skips the test.
func dataFile(t *testing.T, name ...string) string {
	t.Helper()
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("NMN_DATA names no folder: skipping real captions")
	}
	return filepath.Join(append([]string{data}, name...)...)
}

// exchanged replaces captions of each bag by captions of any bag, which are then foreign.
func exchanged(b *annotation.Bags, n int, random *rng.Stream) (foreign []string) {
	var all []string
	for _, captions := range b.Captions {
		for _, c := range captions {
			all = append(all, c.Text)
		}
	}
	for i := range b.Captions {
		order := make([]int, len(b.Captions[i]))
		for c := range order {
			order[c] = c
		}
		random.Shuffle(order)
		for _, c := range order[:min(n, len(order))] {
			b.Captions[i][c].Text = all[random.Intn(len(all))]
			foreign = append(foreign, b.Captions[i][c].ID)
		}
	}
	return foreign
}

// Two of five real captions are replaced: Audit finds them, and drops nothing if none is replaced.
func TestAudit_RealCaptionsOfCOCO(t *testing.T) {
	b, err := annotation.ReadBags(t.Context(), dataFile(t, "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	expect.OK(t, err)
	b.IDs, b.Files, b.Captions = b.IDs[:1000], b.Files[:1000], b.Captions[:1000]
	clean := expect.Value(Audit(t.Context(), b, DefaultAuditOptions()))(t)
	if n, _ := clean.Drops(); n > 5 || !(clean.Foreign < .01) {
		t.Errorf("%d of %d captions are dropped where none was replaced, %.3f found foreign", n, b.Len(), clean.Foreign)
	}
	random := rng.New(1)
	foreign := exchanged(b, 2, &random)
	o := DefaultAuditOptions()
	o.Truth = filepath.Join(t.TempDir(), "foreign.txt")
	expect.OK(t, os.WriteFile(o.Truth, []byte(strings.Join(foreign, "\n")), 0o666))
	r := expect.Value(Audit(t.Context(), b, o))(t)
	if j := r.Judgement; !(j.AUC > .95) || !(j.Precision > .85) || !(j.Recall > .85) || r.Refusal != "" ||
		!(r.Foreign > .35 && r.Foreign < .48) {
		t.Errorf("share %.3f, %+v, refused %q", r.Foreign, *j, r.Refusal)
	}
}

// MSR-VTT as it is has some captions of other clips; one of them is known by eye.
func TestAudit_RealCaptionsOfMSRVTT(t *testing.T) {
	b := expect.Value(annotation.ReadBags(t.Context(), dataFile(t, "msrvtt", "train_val_annotation.zip")))(t)
	b.IDs, b.Files, b.Captions = b.IDs[3000:3800], b.Files[3000:3800], b.Captions[3000:3800]
	o := DefaultAuditOptions()
	o.Witness.Resamples = 0
	r := expect.Value(Audit(t.Context(), b, o))(t)
	if !(r.Foreign > .002 && r.Foreign < .02) {
		t.Errorf("%.4f of the captions are found foreign", r.Foreign)
	}
	place := placesOf(b)["69850"] // a pushchair under a singer
	if !r.Dropped[place[0]][place[1]] {
		t.Errorf("caption 69850 is of its clip with probability %.3f", r.Own[place[0]][place[1]])
	}
	has, lacks := r.Against(place[0], place[1], ReasonsShown)
	if said := fmt.Sprint(has, lacks); !strings.Contains(said, "stroller") || !strings.Contains(said, "[singing]") {
		t.Errorf("against it speak %s", said)
	}
}
