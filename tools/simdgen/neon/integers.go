package neon

// halfOf is the number of a 16-bit lane of the last operand.
func halfOf(x uint32) uint32 { return x&1<<20 | x>>1&1<<21 | x>>2<<11 }

// halfLane has the places of an operand that is one of the first 16 vectors.
var (
	halfLane = []place{at(0), at(5), at(16), halfOf}
	wordLane = []place{at(0), at(5), at(16), lane}
	left     = []place{at(0), at(5), at(16)} // and a distance
	right    = []place{at(0), at(5), func(x uint32) uint32 { return -x << 16 }}
)
