package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/labels/rates"
)

// markup is a word that must not become part of a page.
const markup = `</td><b>&"odd"</svg>`

// noiseOf returns a report on words with rising rates. The last word is full of markup.
func noiseOf(words int, featureDependent bool) *NoiseReport {
	side := func(scale float64) RateReport {
		list := make([]WordRate, words)
		for c := range list {
			q := scale * float64(c+1) / float64(words)
			list[c] = WordRate{Word: fmt.Sprintf("word%03d", c), Rate: eval.Number(q), True: eval.Undefined()}
			if featureDependent {
				list[c].Spread = &rates.Spread{Mean: q, SD: q / 10, Quantiles: [5]float64{.8 * q, .9 * q, q, 1.1 * q, 1.2 * q}}
			}
		}
		list[words-1].Word = markup
		list[0].True = list[0].Rate + .125
		list[1].Estimate = &WordEstimate{Rate: eval.Undefined(), Low: 0, High: .5, Remarks: "not predictable"}
		return NewRateReport(list)
	}
	r := &NoiseReport{Run: "fd", FeatureDependent: featureDependent, Epoch: 2, Step: 10, Q01: side(.5), Q10: side(.1)}
	if featureDependent {
		r.Split, r.Bags, r.Samples = "train", 300, "clips"
		r.Q01.Departures = []RateDeparture{{"picture-7", markup, .9, .5}}
	}
	return r
}

func TestNoiseReport_SumsUpAndSorts(t *testing.T) {
	r := noiseOf(5, false)
	if w := r.Q01.Words; w[0].Word != markup || w[4].Word != "word000" {
		t.Errorf("from %s to %s, want the highest rate first", w[0].Word, w[4].Word)
	}
	if e := r.Q01.Error; e != .125 {
		t.Errorf("mean error %g, want that of the one word whose truth is known", e)
	}
	if m := r.Q01.Mean; m < .2999 || m > .3001 {
		t.Errorf("mean rate %g, want 0.3", m)
	}
	tables := r.Tables(2)
	if n := len(tables[1].Rows); n != 2 || !strings.Contains(strings.Join(tables[1].Notes, ""), "2 of 5") {
		t.Errorf("%d rows, notes %q", n, tables[1].Notes)
	}
	has(t, written(t, Text, noiseOf(5, true).Tables(0)...), "sd", "95 %", "T01", "not predictable", "Every clip of the train split (300 clips)",
		"Clips whose q01", "picture-7")
	data, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(data), `"true":null`) {
		t.Errorf("%v: %.300s", err, data)
	}
}

// parsed reads a page strictly and returns its text and the elements in it.
func parsed(t *testing.T, page string) (content string, elements map[string]int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var b strings.Builder
	elements = map[string]int{}
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page does not parse: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			b.Write(token)
			b.WriteByte('\n')
		}
	}
	if depth != 0 {
		t.Errorf("%d elements are not closed", depth)
	}
	return b.String(), elements
}

func TestNoisePage_ShowsEveryClass(t *testing.T) {
	for _, c := range []struct {
		words            int
		featureDependent bool
	}{{2, false}, {7, true}, {chartedWords + 30, true}} {
		r := noiseOf(c.words, c.featureDependent)
		page := said(t, r.WritePage)
		content, elements := parsed(t, page)
		charted := min(c.words, chartedWords)
		for _, w := range r.Q01.Words {
			if n := strings.Count(content, "\n"+w.Word+"\n"); n < 2 {
				t.Errorf("%d words: %q is %d times on the page, want a row for each rate", c.words, w.Word, n)
			}
		}
		if elements["figure"] != 2 || elements["text"] < 2*charted || elements["table"] < 3 || elements["b"] != 0 {
			t.Errorf("%d words: elements %v", c.words, elements)
		}
		if cut := strings.Contains(content, "The 100 labels"); cut != (c.words > chartedWords) {
			t.Errorf("%d words: told that the chart is cut: %v", c.words, cut)
		}
		lacks(t, page, "src=", "href=\"http", "@import", "<?xml")
	}
}

func TestNoiseReport_MarkdownHoldsAllWords(t *testing.T) {
	if n := strings.Count(said(t, noiseOf(40, true).WriteMarkdown), "| word0"); n != 2*39 {
		t.Errorf("%d rows, want %d", n, 2*39)
	}
}
