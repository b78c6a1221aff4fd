package vit

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
)

// Net is a vision transformer on a device. It serves one goroutine at a time.
type Net struct {
	config  Config
	backend kernels.Backend
}

// Plan is a batch of N pictures. Plans of one net share memory.
type Plan struct {
	N      int
	Pixels *tensor.Tensor // uint8 N×H×W×3: upload into it
}
