// Audit finds the labels of a matrix that are probably wrong. It takes scores that any program has given to bags which
// it had not learned (here they are made up, with a third of the labels that hold left out and some that do not hold
// added), estimates how often labels of each class are missing and incorrect, and lists the surest mistakes.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"nmn/labels/audit"
	"nmn/labels/rates"
)

func main() {
	if err := examine(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// examine audits the labels of 4,000 bags and two classes.
func examine(ctx context.Context, out io.Writer) error {
	bags, words := 4000, []string{"dog", "cat"}
	scores, labels, truth := observe(bags, len(words))

	// How noisy is each class? The scores are log-odds of p(y=1), not calibrated.
	seen := rates.Input{Bags: bags, Classes: len(words), Scores: scores, Labels: labels, Words: words}
	estimate, err := rates.Estimate(ctx, seen, rates.DefaultOptions())
	if err != nil {
		return err
	}
	for _, class := range estimate.Classes {
		fmt.Fprintf(out, "%s: %.0f %% of the labels that hold are missing, %.0f %% of the others are made up\n",
			class.Word, 100*class.Q01, 100*class.Q10)
	}

	// Which labels are wrong with a probability of at least one half?
	in := audit.Input{Bags: bags, Classes: len(words), Logits: scores, Labels: labels, Words: words, Truth: truth}
	in.FromEstimate(estimate)
	found, err := audit.Run(in, .5)
	if err != nil {
		return err
	}
	sure := audit.AtPrecision(found.Suspects, .9)
	fmt.Fprintf(out, "%d of %d labels are suspects; of the first %d, 90 %% are expected to be wrong\n",
		len(found.Suspects), len(labels), sure)
	wrong := 0
	for _, s := range found.Suspects[:sure] {
		if truth[int(s.Bag)*len(words)+int(s.Class)] != s.Given {
			wrong++
		}
	}
	fmt.Fprintf(out, "%.0f %% of these are\n", 100*float64(wrong)/float64(sure))
	for _, s := range found.Suspects[:3] {
		fmt.Fprintf(out, "  row %s: %s is %s, p = %.3f\n", in.ID(int(s.Bag)), in.Word(int(s.Class)), s.Kind(),
			s.Error())
	}
	return nil
}

// observe makes up true labels, scores that separate them fairly well, and observed labels.
func observe(bags, classes int) (scores []float32, labels, truth []uint8) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range bags * classes {
		y := chance.Float64() < .3
		score, wrong := -2+2*chance.NormFloat64(), chance.Float64() < .02
		if y {
			score, wrong = score+4, chance.Float64() < 1./3
		}
		scores, truth, labels = append(scores, float32(score)), append(truth, bit(y)), append(labels, bit(y != wrong))
	}
	return scores, labels, truth
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
