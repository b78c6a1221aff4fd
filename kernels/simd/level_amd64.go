//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

// assembly is the processor whose assembly this build holds, or empty.
const assembly = "amd64"

// extensionsMissing names the extensions of a level that the processor lacks or the operating system does not
// save.
func extensionsMissing(l Level) []string {
	type extension struct {
		name string
		has  bool
	}
	// x/sys/cpu reports an AVX extension only if the operating system saves its registers.
	needs := []extension{}
	switch l {
	case AVX2:
		needs = []extension{{"AVX", cpu.X86.HasAVX}, {"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA},
			{"BMI2", cpu.X86.HasBMI2}}
	case AVX512:
		needs = []extension{{"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA}, {"BMI2", cpu.X86.HasBMI2},
			{"AVX512F", cpu.X86.HasAVX512F}, {"AVX512VL", cpu.X86.HasAVX512VL},
			{"AVX512DQ", cpu.X86.HasAVX512DQ}, {"AVX512BW", cpu.X86.HasAVX512BW}}
	}
	var lacks []string
	for _, e := range needs {
		if !e.has {
			lacks = append(lacks, e.name)
		}
	}
	return lacks
}

func assemble(t *[AVX512 + 1]kernels) {
	t[AVX2] = withAVX2(t[Generic])
	t[AVX512] = withAVX512(t[AVX2])
	if cpu.X86.HasAVX512BF16 {
		t[AVX512] = withBFloat16(t[AVX512])
	}
}

// withBFloat16 adds the kernels of AVX512_BF16, which not every processor with AVX-512 has.
func withBFloat16(k kernels) kernels {
	k.wideBFloat16 = [...]tileKernel{1: tile4x32AVX512BF16, tile4x32AVX512BF16, tile4x32AVX512BF16, tile4x32AVX512BF16,
		tile8x32AVX512BF16, tile8x32AVX512BF16, tile8x32AVX512BF16, tile8x32AVX512BF16, tile12x32AVX512BF16,
		tile12x32AVX512BF16, tile12x32AVX512BF16, tile12x32AVX512BF16}
	k.narrowBFloat16 = [...]tileKernel{1: tile4x16AVX512BF16, tile4x16AVX512BF16, tile4x16AVX512BF16, tile4x16AVX512BF16,
		tile8x16AVX512BF16, tile8x16AVX512BF16, tile8x16AVX512BF16, tile8x16AVX512BF16, tile12x16AVX512BF16,
		tile12x16AVX512BF16, tile12x16AVX512BF16, tile12x16AVX512BF16}
	k.roundBFloat16 = roundBFloat16AVX512BF16
	return k
}

func withAVX2(k kernels) kernels {
	k.tileShape, k.outerShape, k.batchShape, k.crossShape = [3]int{6, 16, 8}, [2]int{4, 24}, [2]int{3, 16}, [2]int{4, 16}
	k.wide = [...]tileKernel{1: tile3x16AVX2, tile3x16AVX2, tile3x16AVX2, tile6x16AVX2, tile6x16AVX2, tile6x16AVX2,
		maxTileRows: nil}
	k.narrow = [...]tileKernel{1: tile3x8AVX2, tile3x8AVX2, tile3x8AVX2, tile6x8AVX2, tile6x8AVX2, tile6x8AVX2,
		maxTileRows: nil}
	k.outer, k.multiplyBatch, k.cross = outer4x24AVX2, batch6x16AVX2, cross4x16AVX2
	k.dropBatch = 32
	k.winogradInput, k.winogradFilter = winogradInputAVX2, winogradFilterAVX2
	k.winogradGradient, k.winogradFilterGradient = winogradGradientAVX2, winogradFilterGradientAVX2
	k.winogradOutput, k.winogradDataGradient = winogradOutputAVX2, winogradDataGradientAVX2
	k.copyRows, k.sumRows = copyRowsAVX2, sumRowsAVX2
	k.sumRows64, k.scaleRows = sumRows64AVX2, scaleRowsAVX2
	k.add, k.relu = addAVX2, reluAVX2
	k.gelu, k.geluTanh = geluAVX2, geluTanhAVX2
	k.geluQuick = geluQuickAVX2
	k.sum, k.reluGrad = sumAVX2, reluGradAVX2
	k.addScaled, k.scaleTo = addScaledAVX2, scaleToAVX2
	k.approach = approachAVX2
	k.scale, k.addProduct = scaleAVX2, addProductAVX2
	k.standardize, k.sumSquares = standardizeAVX2, sumSquaresAVX2
	k.moments, k.dropout = momentsAVX2, dropoutAVX2
	k.sgd = sgdAVX2
	k.adam, k.adamW = adamAVX2, adamWAVX2
	k.maxOfFour = maxOfFourAVX2
	k.scatterMax[0], k.scatterMax[1] = scatterMaxAVX2, scatterMaxReLUAVX2
	k.scatterFirst[0], k.scatterFirst[1] = scatterFirstAVX2, scatterFirstReLUAVX2
	k.scatterWindows[0], k.scatterWindows[1] = scatterWindowsAVX2, scatterWindowsReLUAVX2
	k.maxWindows = maxWindowsAVX2
	k.lstmGates, k.lstmGatesGrad = lstmGatesAVX2, lstmGatesGradAVX2
	k.raise, k.addExp = raiseAVX2, addExpAVX2
	k.scaledExp, k.softmax = scaledExpAVX2, softmaxAVX2
	k.softplus, k.softplusSigmoid = softplusAVX2, softplusSigmoidAVX2
	k.blendRows, k.normalize = blendRowsAVX2, normalizeAVX2
	k.transpose8, k.huffmanRun, k.inverseDCT = transpose8AVX2, huffmanRunBMI2, inverseDCTAVX2
	k.mixRows, k.doubleRow, k.ycbcr = mixRowsAVX2, doubleRowAVX2, ycbcrAVX2
	k.resampleRow, k.reduceRows, k.reduceColumns = resampleRowAVX2, reduceRowsAVX2, reduceColumnsAVX2
	return k
}

func withAVX512(k kernels) kernels {
	k.tileShape, k.outerShape, k.batchShape, k.crossShape = [3]int{12, 32, 16}, [2]int{8, 48}, [2]int{4, 32}, [2]int{8, 32}
	k.wide = [...]tileKernel{1: tile4x32AVX512, tile4x32AVX512, tile4x32AVX512, tile4x32AVX512,
		tile8x32AVX512, tile8x32AVX512, tile8x32AVX512, tile8x32AVX512, tile12x32AVX512, tile12x32AVX512, tile12x32AVX512,
		tile12x32AVX512}
	k.narrow = [...]tileKernel{1: tile4x16AVX512, tile4x16AVX512, tile4x16AVX512, tile4x16AVX512,
		tile8x16AVX512, tile8x16AVX512, tile8x16AVX512, tile8x16AVX512, tile12x16AVX512, tile12x16AVX512, tile12x16AVX512,
		tile12x16AVX512}
	k.outer, k.multiplyBatch, k.cross = outer8x48AVX512, batch12x32AVX512, cross8x32AVX512
	k.dropBatch = 64
	k.winogradInput, k.winogradFilter = winogradInputAVX512, winogradFilterAVX512
	k.winogradGradient, k.winogradFilterGradient = winogradGradientAVX512, winogradFilterGradientAVX512
	k.winogradOutput, k.winogradDataGradient = winogradOutputAVX512, winogradDataGradientAVX512
	k.copyRows, k.sumRows = copyRowsAVX512, sumRowsAVX512
	k.sumRows64, k.scaleRows = sumRows64AVX512, scaleRowsAVX512
	k.add, k.relu = addAVX512, reluAVX512
	k.gelu, k.geluTanh = geluAVX512, geluTanhAVX512
	k.geluQuick = geluQuickAVX512
	k.sum, k.reluGrad = sumAVX512, reluGradAVX512
	k.addScaled, k.scaleTo = addScaledAVX512, scaleToAVX512
	k.approach = approachAVX512
	k.scale, k.addProduct = scaleAVX512, addProductAVX512
	k.standardize, k.sumSquares = standardizeAVX512, sumSquaresAVX512
	k.moments, k.dropout = momentsAVX512, dropoutAVX512
	k.sgd = sgdAVX512
	k.adam, k.adamW = adamAVX512, adamWAVX512
	k.maxOfFour = maxOfFourAVX512
	k.scatterMax[0], k.scatterMax[1] = scatterMaxAVX512, scatterMaxReLUAVX512
	k.scatterFirst[0], k.scatterFirst[1] = scatterFirstAVX512, scatterFirstReLUAVX512
	k.scatterWindows[0], k.scatterWindows[1] = scatterWindowsAVX512, scatterWindowsReLUAVX512
	k.maxWindows = maxWindowsAVX512
	k.lstmGates, k.lstmGatesGrad = lstmGatesAVX512, lstmGatesGradAVX512
	k.raise, k.addExp = raiseAVX512, addExpAVX512
	k.scaledExp, k.softmax = scaledExpAVX512, softmaxAVX512
	k.softplus, k.softplusSigmoid = softplusAVX512, softplusSigmoidAVX512
	k.blendRows, k.normalize = blendRowsAVX512, normalizeAVX512
	k.reduceWide = reduceColumnsAVX512
	return k
}
