// Command gen writes the assembly of package simd. Run it by "go generate" there, or from anywhere
// by "go -C kernels/simd/gen run .": it takes no arguments and overwrites kernels_amd64.s and
// kernels_amd64.go.
package main

import (
	"os"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
)

func main() {
	os.Args = append(os.Args[:1], "-out", "../kernels_amd64.s", "-stubs", "../kernels_amd64.go", "-pkg", "simd")
	Constraint(buildtags.Not("noasm").ToConstraint())
	for _, set := range []vectors{avx2, avx512} {
		tile(set, set.tileRows, 2)
		tile(set, set.tileRows, 1)
		outer(set, set.outerRows, 3)
		copyRows(set)
		sumRows(set)
		add(set)
	}
	transpose()
	Generate()
}
