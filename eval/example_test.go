package eval_test

import (
	"fmt"
	"log"

	"nmn/eval"
)

// Hold probabilities of four bags and two classes against labels.
func ExampleEvaluate() {
	result, err := eval.Evaluate(eval.Input{
		Bags: 4, Classes: 2, Words: []string{"dog", "cat"},
		Scores: []float32{
			.9, .1,
			.8, .7,
			.3, .6,
			.2, .2,
		},
		Labels: []uint8{
			1, 0,
			0, 1,
			1, 1,
			0, 0,
		},
	}, eval.Options{Threshold: .5, TopK: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range result.Words {
		fmt.Printf("%s: AP %.2f\n", word.Word, word.Labels.AP)
	}
	fmt.Printf("mean AP %.3f\n", result.Labels.AP.All)
	// Output:
	// dog: AP 0.83
	// cat: AP 1.00
	// mean AP 0.917
}

// The average precision of a ranking: the mean, over the bags with the label, of the precision down to them.
func ExampleAveragePrecision() {
	ap, _, err := eval.AveragePrecision([]float32{.9, .8, .3, .2}, []uint8{1, 0, 1, 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", ap) // (1/1 + 2/3) / 2
	// Output: 0.833
}
