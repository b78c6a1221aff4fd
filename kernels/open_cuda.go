//go:build cuda

package kernels

import (
	"os"
	"path/filepath"
	"strings"

	"nmn/cuda"
	"nmn/cuda/cudnn"
)

// HasCUDA reports whether this build can use a graphics card.
const HasCUDA = true

// openCard opens a graphics card, with plans of convolutions kept in the user's cache.
func openCard(c Config, ordinal int) (Backend, error) {
	if c.Local > 0 && !strings.Contains(c.Device, ":") {
		if cards, err := cuda.Available(); err == nil { // else OpenCUDA reports what is missing
			ordinal = c.Local % cards
		}
	}
	folder := c.PlanFolder
	if cache, err := os.UserCacheDir(); folder == "" && err == nil { // without a home no plans are kept
		folder = filepath.Join(cache, "nmn")
	}
	return OpenCUDA(CUDAConfig{
		Ordinal: ordinal, Precision: c.Precision,
		Device:   cuda.Options{SyncLaunches: c.SyncLaunches},
		Plans:    cudnn.Options{CacheFolder: folder, Logger: c.Logger},
		NoGraphs: c.NoGraphs,
		NVTX:     c.NVTX,
	})
}
