package recipe_test

import (
	"fmt"

	"nmn/recipe"
)

// The table of arms is what flags, reports and experiments are made from.
func ExampleArms() {
	for _, arm := range recipe.Arms() {
		if arm.Stage == 2 {
			fmt.Printf("%-14s %-14s noise model %q\n", arm.Name, arm.Title, arm.Noise)
		}
	}
	// Output:
	// baseline       baseline       noise model "none"
	// nmn-fi         NMN-FI         noise model "fi"
	// nmn-fd         NMN-FD         noise model "fd"
	// caption-filter caption filter noise model "fi"
	// held-rates     held rates     noise model "fi"
	// soft-labels    soft labels    noise model "fi"
	// em             EM             noise model "fi"
}

func ExampleName_Arm() {
	arm, ok := recipe.FD.Arm()
	fmt.Println(ok, arm.Title, "goes on from stage", arm.Stage-1)
	_, ok = recipe.Name("mine").Arm()
	fmt.Println(ok)
	// Output:
	// true NMN-FD goes on from stage 1
	// false
}
