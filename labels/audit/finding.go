package audit

import (
	"nmn/format/records"
	"nmn/labels/audit/rows"
)

// Finding is a suspect with names in place of numbers. It is a row of the
// ranked list in every format.
type Finding struct {
	ID    string  `json:"id" parquet:"id"`
	Word  string  `json:"class" parquet:"class,dict"`
	Kind  Kind    `json:"kind" parquet:"kind,dict"`
	Given uint8   `json:"given" parquet:"given"`     // the label z
	Wrong float64 `json:"p_wrong" parquet:"p_wrong"` // probability that it is wrong
	P     float64 `json:"p" parquet:"p"`             // p(y=1|I), without the label
	Q01   float64 `json:"q01" parquet:"q01"`         // noise rates of the class
	Q10   float64 `json:"q10" parquet:"q10"`
	Rank  int64   `json:"rank" parquet:"rank"`        // from 1; probabilities near 1 may be equal where ranks are not
	Rates string  `json:"rates" parquet:"rates,dict"` // OwnRates or PooledRates
}

// Whose rates a suspect is ranked by.
const (
	OwnRates = "own" // the rates of its class
	// by the noise of the other classes, because its class has no rates of its own: nothing is claimed for it
	PooledRates = "pooled"
)

// Finding names the suspect at a place of the ranked list, counted from 0.
func (in *Input) Finding(at int, s Suspect) Finding {
	return Finding{
		ID: in.ID(int(s.Bag)), Word: in.Word(int(s.Class)), Kind: s.Kind(), Given: s.Given, Wrong: s.Error(), P: s.P,
		Q01: in.Rates.Q01[s.Class], Q10: in.Rates.Q10[s.Class], Rank: int64(at) + 1,
		Rates: in.ratesOf(int(s.Class)),
	}
}

func (in *Input) ratesOf(class int) string {
	if in.IsPooled(class) {
		return PooledRates
	}
	return OwnRates
}

// SuspectFormats are the endings of files of suspects.
var SuspectFormats = rows.Formats

// element is a suspect in an array: the bag and the class, counted from 0 in the order of the scores, the probability
// that the label is wrong, p(y=1|I) without the label, the label, and whether the rates are pooled.
type element struct {
	Row    int32   `npy:"row"`
	Class  int32   `npy:"class"`
	Wrong  float64 `npy:"p_wrong"`
	P      float64 `npy:"p"`
	Given  uint8   `npy:"given"`
	Pooled bool    `npy:"pooled"`
}

// WriteSuspectsFile writes the ranked list as a table, one row for each suspect, in the format that the
// ending of the name decides: one of SuspectFormats. A Parquet table has text as UTF-8, with classes and kinds as
// dictionaries, given as an unsigned byte, probabilities as doubles, and rank as a 64-bit integer; no column has nulls.
func WriteSuspectsFile(path string, in Input, suspects []Suspect) error {
	return rows.List[Finding, element]{What: "suspects", N: len(suspects), Row: func(at int) (Finding, error) {
		f := in.Finding(at, suspects[at])
		return f, records.CheckText("suspect", f.Rank, f.ID, f.Word)
	}, Element: func(at int) element {
		s := &suspects[at]
		return element{Row: s.Bag, Class: s.Class, Wrong: s.Error(), P: s.P, Given: s.Given,
			Pooled: in.IsPooled(int(s.Class))}
	}}.WriteFile(path)
}
