package labels

import (
	"math"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/text"
)

// readings are all options of this program by name.
var readings = map[string]Options{"learnt": Learnt, "given": Given, "estimated": Estimated, "flips": Flips,
	"left": Left}

func TestRead_EachReadingTakesAndRefuses(t *testing.T) {
	const words = "red,.2,.3\n\"up,side\",0,1\n"
	estimate := "class,q01,q01_low,q01_high,q10,q10_low,q10_high,remarks,a\ncat,,,,,,,too few labels,x\n" +
		"red,.1,0,.2,.3,.2,.4,,\n\"up,side\",.1,0,.2,.3,.2,.4,,\n"
	for _, c := range []struct {
		name, file string
		says       map[string]string // by the readings that refuse the file
	}{
		{"whole", "class,q01,q10\ncat,.1,.1\n" + words, map[string]string{"estimated": `no column "q01_low"`}},
		{"empty rate", "class,q01,q10\ncat,,.1\n" + words, map[string]string{
			"learnt": `line 2: class "cat": q01 is "", want a rate from 0 to 1`, "estimated": `no column "q01_low"`}},
		{"class without a line", "class,q01,q10\n" + words, map[string]string{
			"learnt":    `1 of 3 classes have no rate, the first is "cat"`,
			"given":     `1 of 3 classes have no line, the first is "cat"`,
			"left":      `1 of 3 classes have no line, the first is "cat"`,
			"estimated": `no column "q01_low"`}},
		{"estimate", estimate,
			map[string]string{"learnt": `column 3 is "q01_low", want class, pos, q01, q10, t01, t10 or remarks`,
				"left": `column 3 is "q01_low"`}},
		{"interval", strings.Replace(estimate, ".4,,\n", "1.4,,\n", 1), map[string]string{
			"learnt": `column 3 is "q01_low"`, "left": `column 3 is "q01_low"`,
			"estimated": `line 3: class "red": q10_high is "1.4", want a rate from 0 to 1`}},
		{"a alone", "class,q01,q10,a\ncat,.1,.1,x\nred,.2,.3,y\n\"up,side\",0,1,z\n", map[string]string{
			"learnt": `column 4 is "a"`, "left": `column 4 is "a"`, "estimated": `no column "q01_low"`}},
		{"calibration", "class,q01,q10,b,a\ncat,.1,.1,0,inf\n", map[string]string{
			"learnt": `column 4 is "b"`, "left": `column 4 is "b"`, "given": `line 2: class "cat": a is "inf", want a number`,
			"estimated": `no column "q01_low"`}},
	} {
		for name, o := range readings {
			_, err := Read(strings.NewReader(c.file), threeWords(t), o)
			if says := c.says[name]; (err == nil) != (says == "") ||
				err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%s, %s: error %v, want %q", c.name, name, err, says)
			}
		}
	}
}

func TestRead_WhatTheTableLacks(t *testing.T) {
	table, err := Read(strings.NewReader("class,q01,q10\ncat,,.1\n"), threeWords(t), Flips)
	if err != nil || table[0].Q01 != 0 || table[0].Q10 != .1 || table[1].Q10 != 0 || !math.IsNaN(table[0].Q01Low) {
		t.Errorf("flips %+v, %v", table, err)
	}
	const file = "class,q01,q10,a,b\ncat,,.1,2,-1\nred,.5,,1,0\n\"up,side\",,,1,0\n"
	if table, err = Read(strings.NewReader(file), threeWords(t), Given); err != nil {
		t.Fatal(err)
	}
	if r := table.Rates(); !math.IsNaN(r.Q01[0]) || r.Q10[0] != .1 || r.Q01[1] != .5 {
		t.Errorf("rates %+v", r)
	}
	if a, b := table.Calibration(); len(a) != 3 || a[0] != 2 || b[0] != -1 {
		t.Errorf("calibration %v, %v", a, b)
	}
	if table, err = Read(strings.NewReader(strings.ReplaceAll(file, ",b\n", ",c\n")), threeWords(t),
		Given); err != nil {
		t.Fatal(err)
	}
	if a, b := table.Calibration(); a != nil || b != nil {
		t.Errorf("calibration of a alone: %v, %v", a, b)
	}
}

func TestTable_EstimateReadsBack(t *testing.T) {
	table := Table{NewRow(text.Word{Text: "cat"}), NewRow(text.Word{Text: "red"}), NewRow(text.Word{Text: "up,side"})}
	for c := range table {
		table[c].A, table[c].B, table[c].Labels = 1.5, -.25, 7
	}
	table[1].Q01, table[1].Q01Low, table[1].Q01High, table[1].Remarks = 1./3, .25, .5, "weak; few"
	var b strings.Builder
	expect.OK(t, table.WriteCSV(&b, EstimateColumns))
	const want = "class,q01,q10,q01_low,q01_high,q10_low,q10_high,a,b,labels,remarks\ncat,,,,,,,1.5,-0.25,7,\n" +
		"red,0.3333333333333333,,0.25,0.5,,,1.5,-0.25,7,weak; few\n\"up,side\",,,,,,,1.5,-0.25,7,\n"
	if b.String() != want {
		t.Fatalf("wrote\n%s", &b)
	}
	back, err := Read(strings.NewReader(b.String()), threeWords(t), Estimated)
	if err != nil || back[1].Q01 != 1./3 || back[1].Q01High != .5 || back[1].Remarks != "weak; few" ||
		!math.IsNaN(back[0].Q01) {
		t.Errorf("read back %+v, %v", back, err)
	}
}

func FuzzReadGiven(f *testing.F) {
	v, err := text.NewVocabulary([]text.Word{{Text: "cat"}, {Text: "dog"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("class,q01,q10,a,b\ncat,.1,.2,1,0\ndog,,,1,0\n")
	f.Add("q10,class,q01,remarks\n1,dog,0,x\n1e-3,cat,.5,\n")
	f.Add("class,q01,q10,a,b\ncat,.1,.2,,0\n")
	f.Add("class,q01,q01_low,q01_high,q10,q10_low,q10_high,remarks\ncat,.1,0,1,,,,x\ndog,,,,,,,\n")
	f.Fuzz(func(t *testing.T, file string) {
		for name, o := range readings {
			table, err := Read(strings.NewReader(file), v, o)
			if err != nil {
				continue
			}
			for _, r := range table {
				for _, column := range rateColumns {
					if q := *r.number(column); q < 0 || q > 1 {
						t.Errorf("%s: %s is %g", name, column, q)
					}
				}
			}
			a, b := table.Calibration()
			for c := range a {
				if sum := a[c] + b[c]; math.IsNaN(sum) || math.IsInf(sum, 0) && math.Abs(a[c]) < 1e300 {
					t.Errorf("%s: calibration %g, %g", name, a[c], b[c])
				}
			}
		}
	})
}
