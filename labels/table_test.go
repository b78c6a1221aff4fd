package labels

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/text"
)

func threeWords(t testing.TB) *text.Vocabulary {
	t.Helper()
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}, {Text: "red", POS: text.JJ},
		{Text: "up,side", POS: text.Others}})
	expect.OK(t, err)
	return v
}

func TestTable_ReadsBackEqual(t *testing.T) {
	for name, t01 := range map[string]float64{"with truth": .25, "without": math.NaN()} {
		rates := Table{
			{Word: "cat", POS: text.NN, Q01: 1. / 3, Q10: .05, T01: t01, T10: math.NaN()},
			{Word: "red", POS: text.JJ, Q01: 0, Q10: 1, T01: math.NaN(), T10: math.NaN()},
			{Word: "up,side", POS: text.Others, Q01: 1e-9, Q10: .5, T01: math.NaN(), T10: math.NaN()},
		}
		path := filepath.Join(t.TempDir(), "q.csv")
		expect.OK(t, rates.WriteFile(path, rates.LearntColumns()))
		back, err := ReadFile(path, threeWords(t), Learnt)
		expect.OK(t, err)
		var a, b bytes.Buffer
		if err := errors.Join(rates.WriteCSV(&a, rates.LearntColumns()),
			back.WriteCSV(&b, back.LearntColumns())); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s: wrote\n%sread\n%s", name, &a, &b)
		}
		if strings.Contains(a.String(), "t01") != !math.IsNaN(t01) {
			t.Errorf("%s:\n%s", name, &a)
		}
		if r := back.Rates(); r.Q01[0] != 1./3 || r.Q10[1] != 1 {
			t.Errorf("slices %+v", r)
		}
	}
}

func TestRead_AnyOrderOfClassesAndColumns(t *testing.T) {
	rates, err := Read(strings.NewReader("\ufeffQ10, class ,q01\n.1,red,.2\n.3,\"up,side\",.4\r\n0,cat,1\n"),
		threeWords(t), Learnt)
	expect.OK(t, err)
	if rates[0].Word != "cat" || rates[0].Q01 != 1 || rates[1].Q10 != .1 || rates[2].Q01 != .4 ||
		rates[1].POS != text.JJ || !math.IsNaN(rates[0].T01) {
		t.Errorf("%+v", rates)
	}
}

func TestRead_NamesTheFault(t *testing.T) {
	const head = "class,pos,q01,q10\n"
	for _, c := range []struct{ name, file, says string }{
		{"empty", "", "q.csv:1: the file is empty"},
		{"no q10", "class,q01\ncat,.1\n", `no column "q10"`},
		{"unknown column", "class,q01,q10,q11\n", `column 4 is "q11"`},
		{"column twice", "class,q01,q10,q01\n", "twice"},
		{"unknown word", head + "cat,NN,.1,.1\ndog,NN,.1,.1\n", `q.csv:3: "dog"`},
		{"word twice", head + "cat,NN,.1,.1\ncat,NN,.1,.1\n", "given in line 2"},
		{"class missing", head + "red,JJ,.1,.1\n", `2 of 3 classes have no rate, the first is "cat"`},
		{"above one", head + "cat,NN,1.1,.1\n", "rate from 0 to 1"},
		{"negative", head + "cat,NN,.1,-.1\n", `q10 is "-.1"`},
		{"NaN", head + "cat,NN,nan,.1\n", `q01 is "nan"`},
		{"empty rate", head + "cat,NN,,.1\n", "q.csv:2"},
		{"other part of speech", head + "cat,VB,.1,.1\n", "the vocabulary has NN"},
		{"ragged", head + "cat,NN,.1\n", "3 fields"},
		{"open quote", head + "\"cat,NN,.1,.1\n", "q.csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readNamed(strings.NewReader(c.file), "q.csv", threeWords(t), Learnt)
			if !errors.Is(err, ErrRates) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one naming %q", err, c.says)
			}
		})
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.csv"), threeWords(t), Learnt); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"class,pos,q01,q10\ncat,NN,.1,.2\nred,JJ,0,1\n\"up,side\",other,.5,.5\n",
		"class,q01,q10,t01,t10\ncat,.1,.2,,\n", "q01,q10,class\n,,\n"} {
		f.Add([]byte(s))
	}
	v := threeWords(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		rates, err := readNamed(bytes.NewReader(b), "q.csv", v, Learnt)
		if err != nil {
			if !errors.Is(err, ErrRates) {
				t.Fatalf("error %v does not wrap ErrRates", err)
			}
			return
		}
		if len(rates) != v.Len() {
			t.Fatalf("%d rates for %d words", len(rates), v.Len())
		}
		for c, r := range rates {
			if r.Word != v.Word(c).Text || !(r.Q01 >= 0 && r.Q01 <= 1) || !(r.Q10 >= 0 && r.Q10 <= 1) {
				t.Fatalf("class %d: %+v", c, r)
			}
		}
	})
}
