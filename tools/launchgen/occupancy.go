package main

// multiprocessor is the capacity of an architecture's multiprocessor for resident blocks, by the table of
// compute capabilities in the CUDA C++ programming guide.
type multiprocessor struct {
	warps, blocks int
	shared        int  // bytes of shared memory
	reserved      int  // bytes of it that the system takes for each block
	sharedUnit    int  // bytes in which it is given out
	counted       bool // whether a kernel's shared memory, if it has any, is listed with the system's part
}

// multiprocessors are the multiprocessors of the architectures with machine code in the fatbin.
var multiprocessors = map[string]multiprocessor{
	"75": {warps: 32, blocks: 16, shared: 64 << 10, sharedUnit: 256},
	"80": {warps: 64, blocks: 32, shared: 164 << 10, reserved: 1 << 10, sharedUnit: 128},
	"86": {warps: 48, blocks: 16, shared: 100 << 10, reserved: 1 << 10, sharedUnit: 128},
	"89": {warps: 48, blocks: 24, shared: 100 << 10, reserved: 1 << 10, sharedUnit: 128},
	"90": {warps: 64, blocks: 32, shared: 228 << 10, reserved: 1 << 10, sharedUnit: 128, counted: true},
}

const (
	warpThreads = 32
	// A multiprocessor has four parts with their own registers. A warp lives in one of them and gets
	// registers by the unit.
	parts         = 4
	partRegisters = 65536 / parts
	registerUnit  = 256
)

// resident is the number of blocks of a kernel that a multiprocessor holds at a time.
func (m multiprocessor) resident(threads, registers, shared int) int {
	warps := up(threads, warpThreads) / warpThreads
	blocks := min(m.blocks, m.warps/warps)
	if registers > 0 {
		inPart := partRegisters / up(registers*warpThreads, registerUnit)
		blocks = min(blocks, parts*inPart/warps)
	}
	if shared == 0 || !m.counted {
		shared += m.reserved
	}
	if each := up(shared, m.sharedUnit); each > 0 {
		blocks = min(blocks, m.shared/each)
	}
	return blocks
}

// up is n rounded up to a multiple of unit.
func up(n, unit int) int { return (n + unit - 1) / unit * unit }
