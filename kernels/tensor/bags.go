package tensor

// FitBags checks frame offsets of bags, int32 N+1, over a batch of frames and returns N. nil bags mean one
// frame a bag. It is the shape rule of every device and does not read the offsets.
func FitBags(operation string, bags *Tensor, frames int) (n int, err error) {
	if bags == nil {
		return frames, nil
	}
	if bags.DType() != Int32 || bags.Rank() != 1 || bags.Len() < 2 {
		return 0, Misfit(operation, "bags are %s, want int32 N+1 frame offsets", bags)
	}
	return bags.Len() - 1, nil
}

// HostOffsets returns the offsets of bags in host memory, nil for nil bags. They must ascend from 0
// to frames without an empty bag. A device that cannot read its memory for the price of a call leaves
// this check out.
func HostOffsets(operation string, bags *Tensor, frames int) ([]int32, error) {
	if bags == nil {
		return nil, nil
	}
	offsets := bags.Int32s()
	if offsets == nil {
		return nil, Misfit(operation, "bags %s are not in host memory", bags)
	}
	last := len(offsets) - 1
	if offsets[0] != 0 || int(offsets[last]) != frames {
		return nil, Misfit(operation, "bags reach from frame %d to %d, want 0 to %d", offsets[0], offsets[last], frames)
	}
	for n := range last {
		if offsets[n+1] <= offsets[n] {
			return nil, Misfit(operation, "bag %d is empty: its frames are %d to %d", n, offsets[n], offsets[n+1])
		}
	}
	return offsets, nil
}
