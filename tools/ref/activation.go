package ref

import "math"

// ReLU is max(x, 0); NaN stays NaN.
func ReLU(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		if v > 0 || math.IsNaN(v) {
			y[i] = v
		}
	}
	return y
}

// DropoutMask is the mask, 0 or 1, of len(keys) rows of rowLength elements: word i mod 4 of Philox
// with counter (i/4, keys[t], 0, 0) and the seed as key keeps element i of row t when it is at least
// rate·2^32 rounded down.
func DropoutMask(keys []int32, rowLength int, rate float32, seed uint64) []float64 {
	threshold := math.Floor(float64(rate) * math.Pow(2, 32))
	mask := make([]float64, len(keys)*rowLength)
	for t, key := range keys {
		for i := range rowLength {
			words := Philox([4]uint32{uint32(i / 4), uint32(key), 0, 0}, [2]uint32{uint32(seed % (1 << 32)), uint32(seed >> 32)})
			if float64(words[i%4]) >= threshold {
				mask[t*rowLength+i] = 1
			}
		}
	}
	return mask
}

// Dropout is x·mask/(1-rate). With dy for x it is also its gradient.
func Dropout(x, mask []float64, rate float32) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		if mask[i] != 0 {
			y[i] = x[i] / (1 - float64(rate))
		}
	}
	return y
}

// Philox is Philox4x32 with ten rounds, from the definition in Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (2011), section 3.3: in each round the words are
// (L0, R0, L1, R1), the product of R with its multiplier is split, and the key is bumped.
func Philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	const two32 = uint64(1) << 32
	words := [4]uint64{uint64(counter[0]), uint64(counter[1]), uint64(counter[2]), uint64(counter[3])}
	first, second := uint64(key[0]), uint64(key[1])
	for round := 0; round < 10; round++ {
		productA, productB := 0xD2511F53*words[0], 0xCD9E8D57*words[2]
		words = [4]uint64{
			(productB / two32) ^ words[1] ^ first,
			productB % two32,
			(productA / two32) ^ words[3] ^ second,
			productA % two32,
		}
		first, second = (first+0x9E3779B9)%two32, (second+0xBB67AE85)%two32
	}
	return [4]uint32{uint32(words[0]), uint32(words[1]), uint32(words[2]), uint32(words[3])}
}
