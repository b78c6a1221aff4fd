// Command simdgen writes the assembly of package simd: a file for each processor, and its Go declarations, in
// kernels/simd or in the folder that -dir names. Run it by "go generate" there, or from anywhere by
// "go -C tools/simdgen run .".
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"

	"nmn/tools/simdgen/neon"
)

func main() {
	dir := flag.String("dir", filepath.Join("..", "..", "kernels", "simd"), "folder to write to")
	flag.Parse()
	if err := neon.Write(filepath.Join(*dir, "kernels_arm64")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	file := filepath.Join(*dir, "kernels_amd64")
	// Generate takes its settings from the command line, and records it in its output.
	os.Args = []string{os.Args[0], "-out", file + ".s", "-stubs", file + ".go", "-pkg", "simd"}
	flag.Parse()

	Constraint(buildtags.Not("noasm").ToConstraint())
	writeLaneTable()
	for _, set := range []vectors{avx2, avx512} {
		for _, rows := range set.tileRows {
			tile(set, rows, 2)
			tile(set, rows, 1)
		}
		outer(set, set.outerRows, 3)
		batch(set)
		cross(set, set.outerRows, 2)
		winogradKernels(set)
		copyRows(set)
		sumRows(set)
		add(set)
		elementwiseKernels(set)
		gateKernels(set)
		transformerKernels(set)
		windowKernels(set)
		scatterFirst(set, false)
		scatterFirst(set, true)
		blendRows(set)
		reduceColumns(set)
		normalize(set)
		dropout(set)
		sumRows64(set)
		softplus(set, "softplus", false)
		softplus(set, "softplusSigmoid", true)
		scaleRows(set)
		sumSquares(set)
	}
	for _, rows := range avx512BF16.tileRows {
		tile(avx512BF16, rows, 2)
		tile(avx512BF16, rows, 1)
	}
	roundBFloat16()
	transpose()
	resampleRow()
	reduceRows()
	ycbcr()
	inverseDCT()
	mixRows()
	doubleRow()
	huffmanRun()
	Generate()
	if err := encode(file + ".s"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
