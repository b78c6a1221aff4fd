package audit_test

import (
	"fmt"
	"log"

	"nmn/labels"
	"nmn/labels/audit"
)

// Three bags, two classes. The net that gave these scores has not seen the bags; a third of the labels that hold are
// missing, and one in fifty of the others was made up.
func Example() {
	in := audit.Input{
		Bags: 3, Classes: 2,
		Logits: []float32{
			4.0, -3.0,
			2.5, 1.0,
			-5.0, -4.0,
		},
		Labels: []uint8{
			1, 0,
			0, 0, // the dog is missing, and perhaps the cat
			1, 0, // there is no dog
		},
		Rates: &labels.Rates{Q01: []float64{.33, .33}, Q10: []float64{.02, .02}},
		Words: []string{"dog", "cat"},
		IDs:   []string{"a.jpg", "b.jpg", "c.jpg"},
	}
	found, err := audit.Run(in, .4)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range found.Suspects {
		fmt.Printf("%s: %s is %s with probability %.2f\n", in.ID(int(s.Bag)), in.Word(int(s.Class)), s.Kind(),
			s.Error())
	}
	// Output:
	// c.jpg: dog is incorrect with probability 0.82
	// b.jpg: dog is missing with probability 0.80
	// b.jpg: cat is missing with probability 0.48
}
