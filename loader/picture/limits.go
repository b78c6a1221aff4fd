package picture

// Bounds on one picture.
const (
	DefaultMaxPixels       = 100_000_000 // the limit of a Picture that sets none
	PixelCeiling           = 700_000_000 // the most that a limit may be: three bytes each still fit a 32-bit length
	MaxFileBytes     int64 = 256 << 20   // a larger file is refused
)
