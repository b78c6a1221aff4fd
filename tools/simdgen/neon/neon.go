package neon

// Write writes the assembly to path.s and its Go declarations to path.go.
func Write(path string) error {
	f := &file{constants: map[string]bool{}}
	for _, rows := range []int{mostRows, fewestRows} {
		tile(f, rows, wideColumns)
		tile(f, rows, wideColumns/2)
	}
	outer(f, 8, 12)
	batch(f)
	cross(f, 4, wideColumns)
	copyRows(f)
	sumRows(f)
	add(f)
	scaleRows(f)
	sumRows64(f)
	transpose(f)
	winograd(f)
	inverseDCT(f)
	mixRows(f)
	doubleRow(f)
	ycbcr(f)
	resampleRow(f)
	blendRows(f)
	reduceRows(f)
	reduceColumns(f)
	normalize(f)
	huffmanRun(f)
	elementwiseKernels(f)
	windowKernels(f)
	scatterFirst(f, false)
	scatterFirst(f, true)
	dropout(f)
	transformerKernels(f)
	gateKernels(f)
	softmax(f)
	softplus(f, "softplus", false)
	softplus(f, "softplusSigmoid", true)
	return f.write(path)
}
