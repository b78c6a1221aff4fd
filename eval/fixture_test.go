package eval

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
)

// readFixture reads NAME.json of the golden fixtures, or of the folder that NMN_ORACLE names.
func readFixture(t *testing.T, name string, into any) {
	t.Helper()
	folder := os.Getenv("NMN_ORACLE")
	if folder == "" {
		folder = filepath.Join("testdata", "oracle")
	}
	b, err := os.ReadFile(filepath.Join(folder, name+".json"))
	expect.OK(t, err)
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

type tolerance struct {
	Any struct {
		Atol float64 `json:"atol"`
		Rtol float64 `json:"rtol"`
	} `json:"*"`
}

// near fails unless got is within tolerance of want; undefined matches only undefined.
func (tol tolerance) near(t *testing.T, what string, got, want Number) {
	t.Helper()
	if !want.Defined() {
		if got.Defined() {
			t.Errorf("%s: %v, want undefined", what, got)
		}
		return
	}
	if d := math.Abs(float64(got - want)); !(d <= tol.Any.Atol+tol.Any.Rtol*math.Abs(float64(want))) {
		t.Errorf("%s: %.9f, want %.9f", what, got, want)
	}
}

type fangCase struct {
	Name      string
	K         int
	Counts    []uint16 // encoding/json takes []uint8 for base64
	Scores    []float32
	Order     []int
	HumanP    Number `json:"human_precision"`
	HumanR    Number `json:"human_recall"`
	PAtHR     Number `json:"p_at_hr"`
	AP        Number
	RankAtHR  *int `json:"rank_at_hr"`
	Precision []float64
	Recall    []float64
}

func bytesOf(values []uint16) []uint8 {
	out := make([]uint8, len(values))
	for i, v := range values {
		out[i] = uint8(v)
	}
	return out
}

func TestHumanAgreement_MatchesExactRationals(t *testing.T) {
	var f struct {
		Expected struct {
			Cases   []fangCase
			MeanAP  Number `json:"mean_ap"`
			MeanPHR Number `json:"mean_p_at_hr"`
		}
		Tolerance tolerance
	}
	readFixture(t, "eval_fang_ap", &f)
	if len(f.Expected.Cases) == 0 {
		t.Fatal("the fixture holds no case")
	}
	var aps, phrs []Number
	for _, c := range f.Expected.Cases {
		t.Run(c.Name, func(t *testing.T) {
			order := new(ranker).rank(c.Scores)
			a := agreement(order, bytesOf(c.Counts), c.K)
			f.Tolerance.near(t, "AP", a.AP, c.AP)
			f.Tolerance.near(t, "human precision", a.Precision, c.HumanP)
			f.Tolerance.near(t, "human recall", a.Recall, c.HumanR)
			f.Tolerance.near(t, "precision at human recall", a.PrecisionAtHumanRecall, c.PAtHR)
			if c.RankAtHR != nil {
				f.Tolerance.near(t, "precision at the rank of human recall", a.PrecisionAtHumanRecall,
					Number(c.Precision[*c.RankAtHR-1]))
			}
			aps, phrs = append(aps, a.AP), append(phrs, a.PrecisionAtHumanRecall)
			for i, row := range c.Order {
				if order.row(i) != row {
					t.Fatalf("rank %d is row %d, want %d", i+1, order.row(i), row)
				}
			}
		})
	}
	ap, _ := mean(aps)
	phr, _ := mean(phrs)
	f.Tolerance.near(t, "mean AP without the word never seen", ap, f.Expected.MeanAP)
	f.Tolerance.near(t, "mean precision at human recall", phr, f.Expected.MeanPHR)
}

type fixtureF1 struct {
	OP, OR, OF1, CP, CR, CF1 Number
	MacroF1                  Number `json:"macro_F1"`
}

type multiLabelFixture struct {
	Inputs struct {
		Scores struct {
			Shape [2]int
			Data  []float32
		}
		Labels struct{ Data []uint16 }
	}
	Expected struct {
		AP            []Number
		APStable      []Number `json:"ap_stable"`
		MAP           Number
		MAPStable     Number `json:"map_stable"`
		Thr, Top3     fixtureF1
		Top3Thr       fixtureF1 `json:"top3_thr"`
		Brier, ECE    Number
		BrierPerClass struct{ Data []Number } `json:"brier_per_class"`
		ECEPerClass   struct{ Data []Number } `json:"ece_per_class"`
		ECEConfidence Number                  `json:"ece_confidence"`
	}
	Tolerance tolerance
}

func (f *multiLabelFixture) input() Input {
	return Input{
		Bags: f.Inputs.Scores.Shape[0], Classes: f.Inputs.Scores.Shape[1],
		Scores: f.Inputs.Scores.Data, Labels: bytesOf(f.Inputs.Labels.Data),
	}
}

func TestEvaluate_MatchesPeersOnMultiLabelMeasures(t *testing.T) {
	var f multiLabelFixture
	readFixture(t, "eval_multilabel", &f)
	r := evaluate(t, f.input(), Options{})
	e, m := &f.Expected, r.Labels
	f.Tolerance.near(t, "mAP", m.AP.All, e.MAP)
	f.Tolerance.near(t, "mAP, stable", m.StableAP.All, e.MAPStable)
	f.Tolerance.near(t, "Brier", m.Brier.All, e.Brier)
	f.Tolerance.near(t, "ECE", m.ECE.All, e.ECE)
	f.Tolerance.near(t, "confidence ECE", m.ConfidenceECE.All, e.ECEConfidence)
	for _, g := range []struct {
		name string
		got  F1
		want fixtureF1
	}{{"thr", m.AtThreshold.All, e.Thr}, {"top3", m.AtTopK.All, e.Top3},
		{"top3_thr", m.AtTopKThreshold.All, e.Top3Thr}} {
		if got := fixtureF1(g.got); got != g.want {
			f.Tolerance.near(t, g.name+" OP", got.OP, g.want.OP)
			f.Tolerance.near(t, g.name+" OR", got.OR, g.want.OR)
			f.Tolerance.near(t, g.name+" OF1", got.OF1, g.want.OF1)
			f.Tolerance.near(t, g.name+" CP", got.CP, g.want.CP)
			f.Tolerance.near(t, g.name+" CR", got.CR, g.want.CR)
			f.Tolerance.near(t, g.name+" CF1", got.CF1, g.want.CF1)
			f.Tolerance.near(t, g.name+" macro F1", got.MacroF1, g.want.MacroF1)
		}
	}
	for c, w := range r.Words {
		f.Tolerance.near(t, "AP of a class", w.Labels.AP, e.AP[c])
		f.Tolerance.near(t, "stable AP of a class", w.Labels.StableAP, e.APStable[c])
		f.Tolerance.near(t, "Brier of a class", w.Labels.Brier, e.BrierPerClass.Data[c])
		f.Tolerance.near(t, "ECE of a class", w.Labels.ECE, e.ECEPerClass.Data[c])
	}
}
