//go:build cuda

package cublas

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The library takes every description without a device, and refuses to choose only because its handle is
// missing: layer.h declares its real interface.
func TestDescribe_IsTakenByTheLibrary(t *testing.T) {
	path := filepath.Join(os.Getenv("CUDA_HOME"), "lib", libraryNames[0])
	if err := openAt(path); err != nil {
		t.Skipf("no cuBLASLt: %v", err)
	}
	for _, p := range []Product{
		{Rows: 32, Inner: 700, Columns: 2800, TransposeB: true},
		{Rows: 32, Inner: 700, Columns: 2800, TransposeB: true, Bias: true, Precision: TF32},
		{Rows: 700, Inner: 32, Columns: 2800, TransposeA: true, Precision: BFloat16},
		{Rows: 700, Inner: 32, Columns: 2800, Precision: BFloat16, Wide: true},
	} {
		plan, flags, err := describe(p, 256)
		if err != nil {
			t.Fatal(err)
		}
		const notInitialized = 1
		var refused *Error
		if _, err := plan.ways(nil, flags, 4); !errors.As(err, &refused) || refused.Code != notInitialized {
			t.Errorf("%v: %v, want status %d", p, err, notInitialized)
		}
		plan.Close()
		plan.Close() // harmless
	}
	if v := Version(); v < 120000 {
		t.Errorf("version %d", v)
	}
}

// Constants of layer.c and of this package equal the headers'.
func TestNumbers_AreThoseOfTheHeaders(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"cublasLt.h", "cublas_api.h", "library_types.h"} {
		header, err := os.ReadFile(filepath.Join(os.Getenv("CUDA_HOME"), "include", name))
		if err != nil {
			t.Skipf("no header: %v", err)
		}
		text.Write(header)
	}
	for name, want := range map[string]string{
		"CUBLASLT_MATMUL_DESC_TRANSA": "3", "CUBLASLT_MATMUL_DESC_TRANSB": "4", "CUBLASLT_MATMUL_DESC_EPILOGUE": "7",
		"CUBLASLT_MATMUL_DESC_BIAS_POINTER": "8", "CUBLASLT_EPILOGUE_BIAS": "4",
		"CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES": "1", "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK": "3",
		"CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES": "5", "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES": "8",
		"CUBLASLT_MATMUL_PREF_IMPL_MASK": "12", "CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE": "2",
		"CUBLAS_COMPUTE_32F": "68", "CUBLAS_COMPUTE_32F_FAST_TF32": "77", "CUBLAS_STATUS_NOT_SUPPORTED": "15",
		"CUBLAS_STATUS_NOT_INITIALIZED": "1", "CUDA_R_32F": "0", "CUDA_R_16BF": "14",
	} {
		found := regexp.MustCompile(`\b` + name + `\s*=\s*(\w+)`).FindStringSubmatch(text.String())
		if len(found) != 2 || found[1] != want {
			t.Errorf("%s is %q, want %s", name, found, want)
		}
	}
}
