//go:build !cuda

package kernels

import (
	"errors"
	"strings"
	"testing"
)

func TestOpen_AutoIsTheHost(t *testing.T) {
	for _, device := range []string{"", "auto"} {
		openHost(t, device, "make cuda")
	}
}

func TestOpen_CUDATellsHowToRebuild(t *testing.T) {
	for _, device := range []string{"cuda", "cuda:0", "cuda:3"} {
		backend, _, err := Open(Config{Device: device})
		if !errors.Is(err, ErrUnsupported) || backend != nil || !strings.Contains(err.Error(), "make cuda") {
			t.Errorf("device %q: %v, %v", device, backend, err)
		}
	}
}
