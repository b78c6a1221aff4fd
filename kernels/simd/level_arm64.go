//go:build !noasm

package simd

const assembly = "arm64"

// extensionsMissing returns nothing: Go itself needs the vector instructions of arm64.
func extensionsMissing(Level) []string { return nil }

func assemble(t *[AVX512 + 1]kernels) {
	k := t[Generic]
	k.tileShape, k.outerShape, k.batchShape, k.crossShape = [3]int{6, 16, 8}, [2]int{8, 12}, [2]int{3, 16}, [2]int{4, 16}
	k.wide = [...]tileKernel{1: tile3x16NEON, tile3x16NEON, tile3x16NEON, tile6x16NEON, tile6x16NEON, tile6x16NEON,
		maxTileRows: nil}
	k.narrow = [...]tileKernel{1: tile3x8NEON, tile3x8NEON, tile3x8NEON, tile6x8NEON, tile6x8NEON, tile6x8NEON,
		maxTileRows: nil}
	k.outer, k.multiplyBatch, k.cross = outer8x12NEON, batch6x16NEON, cross4x16NEON
	k.copyRows, k.sumRows = copyRowsNEON, sumRowsNEON
	k.sumRows64, k.scaleRows = sumRows64NEON, scaleRowsNEON
	k.add, k.transpose8 = addNEON, transpose8NEON
	k.winogradInput, k.winogradFilter = winogradInputNEON, winogradFilterNEON
	k.winogradGradient, k.winogradFilterGradient = winogradGradientNEON, winogradFilterGradientNEON
	k.winogradOutput, k.winogradDataGradient = winogradOutputNEON, winogradDataGradientNEON
	k.inverseDCT, k.mixRows, k.doubleRow, k.ycbcr = inverseDCTNEON, mixRowsNEON, doubleRowNEON, ycbcrNEON
	k.resampleRow, k.blendRows = resampleRowNEON, blendRowsNEON
	k.reduceRows, k.reduceColumns, k.normalize = reduceRowsNEON, reduceColumnsNEON, normalizeNEON
	k.huffmanRun = huffmanRunNEON
	k.scale, k.addScaled, k.relu, k.reluGrad, k.approach = scaleNEON, addScaledNEON, reluNEON, reluGradNEON, approachNEON
	k.sgd, k.adam, k.adamW = sgdNEON, adamNEON, adamWNEON
	k.maxOfFour = maxOfFourNEON
	k.scatterMax = scatterKernels{scatterMaxNEON, scatterMaxReLUNEON}
	k.raise, k.addExp, k.scaledExp, k.softmax = raiseNEON, addExpNEON, scaledExpNEON, softmaxNEON
	k.lstmGates, k.lstmGatesGrad = lstmGatesNEON, lstmGatesGradNEON
	k.softplus, k.softplusSigmoid = softplusNEON, softplusSigmoidNEON
	k.sum, k.addProduct, k.scaleTo = sumNEON, addProductNEON, scaleToNEON
	k.gelu, k.geluTanh, k.geluQuick = geluNEON, geluTanhNEON, geluQuickNEON
	k.standardize, k.moments, k.sumSquares = standardizeNEON, momentsNEON, sumSquaresNEON
	k.maxWindows = maxWindowsNEON
	k.scatterWindows[0], k.scatterWindows[1] = scatterWindowsNEON, scatterWindowsReLUNEON
	k.scatterFirst[0], k.scatterFirst[1] = scatterFirstNEON, scatterFirstReLUNEON
	k.dropout, k.dropBatch = dropoutNEON, 32
	t[NEON] = k
}
