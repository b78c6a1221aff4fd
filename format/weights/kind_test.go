package weights

import (
	"bytes"
	"strings"
	"testing"

	"nmn/format/safetensors"
)

// The first byte of a .safetensors file belongs to the length of its header, and may equal a pickle's first
// byte.
func TestRead_SafetensorsWithAHeaderOfAnyLength(t *testing.T) {
	for extra := range 1600 {
		var b bytes.Buffer
		check(t, safetensors.Write(&b, map[string]string{"note": strings.Repeat("x", extra)},
			[]safetensors.Tensor{{Name: "a", Shape: []int{2, 3}, Data: sixth}}))
		f, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "w.safetensors")
		if err != nil || f.Format != "safetensors" {
			t.Fatalf("a header that begins %x: %v", b.Bytes()[:9], err)
		}
	}
}
