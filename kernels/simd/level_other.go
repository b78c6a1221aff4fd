//go:build !amd64 || noasm

package simd

// missing returns the reason why a level cannot run in this build. It is empty when it can.
func missing(l Level) string {
	if l == Generic {
		return ""
	}
	return "this build holds no assembly for it (it needs amd64 and no tag noasm)"
}

func withAVX2(k kernels) kernels { return k }

func withAVX512(k kernels) kernels { return k }
