package audit

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels"
)

// small has three bags and two classes; the labels of a and of c for "dog" are wrong.
func small() Input {
	return Input{
		Bags: 3, Classes: 2, IDs: []string{"a", "b, the \"second\"", "c"}, Words: []string{"cat", "dog"},
		Logits: []float32{4, -5, -4, 5, -.5, 4}, Labels: []uint8{1, 1, 0, 1, 0, 0},
		Rates: &labels.Rates{Q01: []float64{.2, .2}, Q10: []float64{.1, .1}},
	}
}

func TestCorrected_DecisionsComeBeforeTheRule(t *testing.T) {
	in := small()
	r := expect.Value(Run(in, .5))(t)
	if len(r.Suspects) != 2 || r.Suspects[0] != (Suspect{0, 1, 1, r.Suspects[0].Margin, r.Suspects[0].P}) ||
		r.Suspects[1].Kind() != Missing {
		t.Fatalf("suspects %+v", r.Suspects)
	}
	d, err := in.decisions().Read(
		strings.NewReader("id,class,given,decision\na,dog,1,reject\n\"b, the \"\"second\"\"\",cat,0,accept\n"),
		"d.csv")
	expect.OK(t, err)
	corrected, changes, err := Corrected(in, d, r.Suspects, "rule")
	expect.OK(t, err)
	if want := []uint8{1, 1, 1, 1, 0, 1}; !slices.Equal(corrected, want) {
		t.Errorf("labels %v, want %v", corrected, want)
	}
	if !slices.Equal(in.Labels, small().Labels) {
		t.Error("the input has changed")
	}
	if len(changes) != 2 || changes[0].Rule != "accepted" || changes[1].Rule != "rule" {
		t.Errorf("changes %+v", changes)
	}
	near(t, "log-odds that the label is wrong", changes[0].Margin, -4+math.Log(.2/.9))
	if left := Decisions(d).Undecided(r.Suspects); len(left) != 1 || left[0].Bag != 2 {
		t.Errorf("undecided %+v", left)
	}
}

func TestWriteChanges_TellsWhereALabelCameFrom(t *testing.T) {
	in := small()
	in.Rates.Q01[0] = math.NaN()
	c := labels.Correction{Labels: filepath.Join(t.TempDir(), "y.csv")}
	changes := []Change{{Suspect{Bag: 0, Class: 1, Given: 1, Margin: 3}, "precision 0.9"},
		{Suspect{Bag: 1, Class: 0}, "accepted"}}
	err := c.Save(changeColumns, changeRecords(&in, changes, "v1"), func() error { return nil })
	expect.OK(t, err)
	b, err := os.ReadFile(c.Changes())
	want := "id,class,original,corrected,p_wrong,rho,rule,version\n" +
		"a,dog,1,0,0.952574,0.0474259,precision 0.9,v1\n" +
		"\"b, the \"\"second\"\"\",cat,0,1,,,accepted,v1\n"
	if err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	list := filepath.Join(t.TempDir(), "suspects.csv")
	expect.OK(t, WriteSuspectsFile(list, small(), []Suspect{{Bag: 0, Class: 1, Given: 1, Margin: 3, P: .25}}))
	b, err = os.ReadFile(list)
	if err != nil || string(b) != "id,class,kind,given,p_wrong,p,q01,q10,rank,rates\na,dog,incorrect,1,0.952574,0.25,0.2,0.1,1,own\n" {
		t.Errorf("suspects %q, %v", b, err)
	}
}

// badDecisions are files that are refused, with a part of the error message.
var badDecisions = map[string][2]string{
	"empty":    {"", "d.csv: the file is empty"},
	"column":   {"id,class,decision\n", `d.csv:1: there is no column "given"`},
	"bag":      {"id,class,given,decision\nz,cat,1,accept\n", `d.csv:2: no row has the id "z"`},
	"class":    {"id,class,given,decision\na,cow,1,accept\n", `there is no class "cow"`},
	"label":    {"id,class,given,decision\na,cat,2,accept\n", "want the label 0 or 1"},
	"verdict":  {"id,class,given,decision\na,cat,1,maybe\n", "want accept or reject"},
	"stale":    {"id,class,given,decision\na,cat,0,accept\n", "was decided when its label was 0; it is 1 now"},
	"twice":    {"id,class,given,decision\na,cat,1,accept\nc,cat,0,reject\na,cat,1,accept\n", "d.csv:4:"},
	"ragged":   {"id,class,given,decision\na,cat,1\n", "wrong number of fields"},
	"no quote": {"id,class,given,decision\n\"a,cat,1,accept\n", "d.csv:"},
}

func TestReadDecisions_RefusesWithTheLine(t *testing.T) {
	in := small()
	for name, c := range badDecisions {
		if _, err := in.decisions().Read(strings.NewReader(c[0]), "d.csv"); !errors.Is(err, labels.ErrDecisions) ||
			!strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}

func FuzzReadDecisions(f *testing.F) {
	for _, c := range badDecisions {
		f.Add([]byte(c[0]))
	}
	f.Add([]byte("\ufeffDecision,id,given,class,note\naccept,c,0,dog,x\n"))
	in := small()
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := in.decisions().Read(bytes.NewReader(text), "d.csv")
		if err != nil {
			if !errors.Is(err, labels.ErrDecisions) {
				t.Errorf("%v wraps no labels.ErrDecisions", err)
			}
			return
		}
		if _, _, err := Corrected(in, d, nil, ""); err != nil {
			t.Error(err)
		}
	})
}

func TestRun_RefusesBadInput(t *testing.T) {
	for name, spoil := range map[string]func(*Input){
		"NaN":         func(in *Input) { in.Logits[3] = float32(math.NaN()) },
		"label":       func(in *Input) { in.Labels[3] = 2 },
		"rate":        func(in *Input) { in.Rates.Q01[1] = 1.5 },
		"rates":       func(in *Input) { in.Rates = nil },
		"calibration": func(in *Input) { in.A = []float64{1} },
		"truth":       func(in *Input) { in.Truth = in.Labels[1:] },
		"words":       func(in *Input) { in.Words = in.Words[1:] },
		"logits":      func(in *Input) { in.Logits = in.Logits[1:] },
		"no bags":     func(in *Input) { in.Bags, in.Logits, in.Labels, in.IDs = 0, nil, nil, nil },
	} {
		in := small()
		spoil(&in)
		if _, err := Run(in, .5); !errors.Is(err, eval.ErrShape) && !errors.Is(err, eval.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(small(), math.NaN()); !errors.Is(err, eval.ErrValue) {
		t.Errorf("least probability NaN: %v", err)
	}
	if _, err := Judge(small(), nil); !errors.Is(err, eval.ErrShape) {
		t.Errorf("no truth: %v", err)
	}
}
