package annotators

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/format/npy"
	"nmn/format/table"
	"nmn/internal/durable"
	"nmn/labels"
)

// Extensions of the names of files that are written.
var (
	LabelFormats    = []string{".csv", ".jsonl"} // for WriteLabelsFile and WriteConsensusFile
	EvidenceFormats = []string{".npy", ".csv"}   // for WriteEvidenceFile
)

// Report is what was found in a file of labels.
type Report struct {
	*Table
	*Result
}

// WriteAnnotatorsFile writes the table of annotators as CSV, one row each in order of appearance. Rates
// without an interval are the pooled ones. Cells are empty if a figure does not exist.
func (r *Report) WriteAnnotatorsFile(path string) error {
	return durable.CSV(path, 0o644, func(w *csv.Writer) error {
		if err := w.Write([]string{"annotator", "samples", "shared", "asked", "given", "q01", "q01_low", "q01_high", "q10",
			"q10_low", "q10_high", "informedness", "accuracy", "incorrect", "missing", "agreement", "remarks"}); err != nil {
			return err
		}
		for j, a := range r.Result.Annotators {
			record := []string{r.AnnotatorNames[j], strconv.Itoa(a.Bags), strconv.Itoa(a.Shared)}
			for _, v := range []float64{a.Asked, a.Given, a.Q01, a.Q01Interval.Low, a.Q01Interval.High, a.Q10,
				a.Q10Interval.Low, a.Q10Interval.High, a.Informedness, a.Accuracy, a.Incorrect, a.Missing, a.Agreement} {
				record = append(record, labels.Digits(v))
			}
			if err := w.Write(append(record, a.Remark())); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remark joins the remarks.
func (a *Annotator) Remark() string {
	var list []string
	for _, remark := range a.Remarks {
		list = append(list, string(remark))
	}
	return strings.Join(list, "; ")
}

// Label is a row of the list of labels.
type Label struct {
	Bag       string  `json:"sample"`
	Label     string  `json:"label"`
	Posterior float64 `json:"posterior"` // p(y=1 | labels)
	Evidence  float64 `json:"evidence"`  // log p(labels | y=1) - log p(labels | y=0)
	Given     int     `json:"given"`     // annotators who gave it
	Asked     int     `json:"asked"`     // annotators who were asked for it
}

// WriteLabelsFile writes the labels of all bags that a row names or that probably hold, by bag and class, as .csv or
// .jsonl.
func (r *Report) WriteLabelsFile(path string) error {
	each := func(f func(Label) error) error {
		var err error
		for i := range r.Result.Bags {
			r.Each(i, func(c Cell) {
				if err == nil {
					err = f(Label{Bag: r.BagIDs[i], Label: r.Words[c.Class], Posterior: significant(c.P),
						Evidence: significant(c.Evidence), Given: c.Given, Asked: c.Asked})
				}
			})
		}
		return err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return durable.CSV(path, 0o644, func(w *csv.Writer) error {
			if err := w.Write([]string{sampleColumn, "label", "posterior", "evidence", "given", "asked"}); err != nil {
				return err
			}
			return each(func(l Label) error {
				return w.Write([]string{l.Bag, l.Label, labels.Digits(l.Posterior), labels.Digits(l.Evidence),
					strconv.Itoa(l.Given), strconv.Itoa(l.Asked)})
			})
		})
	case ".jsonl":
		return writeLines(path, func(e *json.Encoder) error { return each(func(l Label) error { return e.Encode(l) }) })
	}
	return extensionError(path, LabelFormats)
}

// WriteConsensusFile writes the labels that probably hold. A .csv file is a table of 0 and 1 with a row for
// each bag, named in a column id, and a column for each class. A .jsonl file is a manifest of pictures that
// are named by their bags. Labels that no annotator was asked about are unknown: the field of the table is
// empty. Bags without any answer are omitted from the manifest.
func (r *Report) WriteConsensusFile(path string) error {
	row, rows := make([]uint8, r.Result.Classes), r.byBag()
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return named(path, table.WriteFile(path, r.Words, r.BagIDs, r.Result.Bags, func(i int) ([]uint8, error) {
			r.consensus(i, rows.of(i), row)
			return row, nil
		}))
	case ".jsonl":
		return writeLines(path, func(e *json.Encoder) error {
			for i, id := range r.BagIDs {
				if len(rows.of(i)) == 0 {
					continue
				}
				labels := []string{}
				r.consensus(i, rows.of(i), row)
				for k, v := range row {
					if v == 1 {
						labels = append(labels, r.Words[k])
					}
				}
				if err := e.Encode(struct {
					Path   string   `json:"path"`
					Labels []string `json:"labels"`
				}{id, labels}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return extensionError(path, LabelFormats)
}

// consensus writes 1 for the labels of a bag that probably hold, and table.Unknown for those that none of its rows
// answers.
func (r *Report) consensus(bag int, rows []int32, to []uint8) {
	for k := range to {
		to[k] = table.Unknown
	}
	for _, at := range rows {
		switch row := &r.Rows[at]; {
		case row.Asked == nil && len(row.Unknown) == 0:
			clear(to)
		case row.Asked == nil:
			for k := range to {
				if _, open := slices.BinarySearch(row.Unknown, int32(k)); !open {
					to[k] = 0
				}
			}
		default:
			eachMark(row, func(k int32, _ uint8) { to[k] = 0 })
		}
	}
	r.Each(bag, func(c Cell) {
		if c.Holds {
			to[c.Class] = 1
		}
	})
}

// WriteEvidenceFile writes the evidence of all labels, bags × classes in float32: as .npy, in the order of the bags
// and classes of the table, or as .csv with their names.
func (r *Report) WriteEvidenceFile(path string) error {
	evidence, row := make([]float64, r.Result.Classes), make([]float32, r.Result.Classes)
	values := func(i int) ([]float32, error) {
		r.Evidence(i, evidence)
		for k, v := range evidence {
			row[k] = float32(v)
		}
		return row, nil
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return named(path, table.WriteFile(path, r.Words, r.BagIDs, r.Result.Bags, values))
	case ".npy":
		return durable.Replace(path, 0o644, func(file *durable.File) error {
			w, err := npy.NewWriter(file, r.Result.Classes)
			for i := 0; err == nil && i < r.Result.Bags; i++ {
				row, _ := values(i) // never an error
				err = w.Write(row)
			}
			if err != nil {
				return err
			}
			return w.Close()
		})
	}
	return extensionError(path, EvidenceFormats)
}

func extensionError(path string, want []string) error {
	return fmt.Errorf("cannot write %q: its name must end in one of %s", path, strings.Join(want, ", "))
}

// significant rounds to as many digits.
func significant(v float64) float64 {
	v, _ = strconv.ParseFloat(labels.Digits(v), 64) // digits of a number always parse
	return v
}

func writeLines(path string, write func(*json.Encoder) error) error {
	return durable.Stream(path, 0o644, func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return write(e)
	})
}

// named adds to an error the file that cannot be written.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %q: %w", path, err)
}
