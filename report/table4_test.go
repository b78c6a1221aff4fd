package report

import (
	"testing"

	"nmn/captioner/metrics"
)

func TestTable4_MeansOverSeedsInTheOrderOfThePaper(t *testing.T) {
	scores := func(cider, bleu4, rouge, meteor float64) metrics.Scores {
		return metrics.Scores{CIDErD: cider, BLEU: [4]float64{.9, .8, .7, bleu4}, ROUGEL: rouge, METEOR: meteor}
	}
	table := Table4("Captions", []CaptionRow{
		{Name: "baseline", Scores: []metrics.Scores{scores(.3, .2, .5, .25), scores(.4, .2, .5, .25)}},
		{Name: "NMN-FI", Scores: []metrics.Scores{scores(.5, .1, .5, .25)}},
		{Name: "true concepts", Scores: []metrics.Scores{scores(.9, .9, .9, .9)}, Aside: true},
	})
	has(t, written(t, Markdown, table),
		"| Model | CIDEr | Bleu-4 | ROUGE-L | METEOR | seeds |",
		"| baseline | 35.0 ± 7.1 | **20.0 ± 0.0** | 50.0 ± 0.0 | 25.0 ± 0.0 | 2 |",
		"| NMN-FI | **50.0** | 10.0 | 50.0 | 25.0 | 1 |",
		"| true concepts | 90.0 | 90.0 | 90.0 | 90.0 | 1 |", // stands aside
	)
}
