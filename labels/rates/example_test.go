package rates_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"nmn/labels/rates"
)

// Estimate the noise of one class from scores and noisy labels alone. Here 30 % of the labels that hold were taken
// away, and 5 % of the others were made up.
func ExampleEstimate() {
	const bags = 5000
	chance := rand.New(rand.NewPCG(1, 1))
	in := rates.Input{Bags: bags, Classes: 1, Words: []string{"dog"}}
	for range bags {
		score, label := -2+1.5*chance.NormFloat64(), uint8(0)
		if chance.Float64() < .4 { // there is a dog
			score += 4
			if chance.Float64() > .3 {
				label = 1
			}
		} else if chance.Float64() < .05 {
			label = 1
		}
		in.Scores, in.Labels = append(in.Scores, float32(score)), append(in.Labels, label)
	}
	estimate, err := rates.Estimate(context.Background(), in, rates.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	dog := estimate.Classes[0]
	fmt.Printf("%s: missing %.2f, made up %.2f\n", dog.Word, dog.Q01, dog.Q10)
	fmt.Println("the truth lies within the intervals:", dog.Q01Interval.Low < .3 && .3 < dog.Q01Interval.High,
		dog.Q10Interval.Low < .05 && .05 < dog.Q10Interval.High)
	// Output:
	// dog: missing 0.28, made up 0.04
	// the truth lies within the intervals: true true
}

// Given the score 1.5 and the noise rates of its class, how probable is a label that was not given?
func ExamplePosterior() {
	fmt.Printf("%.2f before, %.2f without the label\n", rates.Sigmoid(1.5), rates.Posterior(1.5, 0, .3, .05))
	// Output: 0.82 before, 0.59 without the label
}
