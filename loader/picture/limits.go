package picture

import "fmt"

// Limits bound the memory that one picture may take.
type Limits struct {
	MaxPixels int   // width × height
	MaxBytes  int64 // size of the file
}

// DefaultLimits are 100 million pixels and 256 MiB.
func DefaultLimits() Limits { return Limits{MaxPixels: 100_000_000, MaxBytes: 256 << 20} }

// Validate returns which field is out of range.
func (l Limits) Validate() error {
	if l.MaxPixels < 1 || l.MaxPixels > PixelCeiling {
		return fmt.Errorf("pictures: MaxPixels = %d, allowed are 1 to %d", l.MaxPixels, PixelCeiling)
	}
	if l.MaxBytes < 1 || l.MaxBytes > 1<<31-1 {
		return fmt.Errorf("pictures: MaxBytes = %d, allowed are 1 to %d", l.MaxBytes, 1<<31-1)
	}
	return nil
}

// PixelCeiling is the most that MaxPixels may be: three bytes each still fit a 32-bit length.
const PixelCeiling = 700_000_000
