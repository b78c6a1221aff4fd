package signature

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse_ReadsEveryFormThatKernelsUse(t *testing.T) {
	got, err := Parse(`// extern "C" __global__ void comment(int a)
static __device__ int helper(int a);
extern "C" __global__ void __launch_bounds__(bag::maxThreads)
first(float *y, const unsigned char *x,
      long long length, unsigned seed) {}
/* extern "C" __global__ void other(int a) */
extern "C" __global__ void second(const Entry *entries, float rate) {}
extern "C" __global__ void __launch_bounds__(2 * 64, 4) third(int a) {}`)
	want := []Kernel{
		{"first", "bag::maxThreads", []Param{{"y", "float", true}, {"x", "unsigned char", true}, {"length", "long long",
			false}, {"seed", "unsigned", false}}},
		{"second", "1024", []Param{{"entries", "Entry", true}, {"rate", "float", false}}},
		{"third", "2 * 64", []Param{{"a", "int", false}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}

func TestParse_RefusesWhatItCannotLaunch(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`__global__ void mangled(int a) {}`, "1 functions are __global__, and 0"},
		{`extern "C" __global__ void k(Struct s) {}`, `kernel k: argument "Struct s"`},
		{`extern "C" __global__ void k(float **p) {}`, `kernel k: cannot read argument "float **p"`},
		{`extern "C" __global__ void k() {}`, `cannot read argument ""`},
	} {
		if _, err := Parse(c.source); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.source, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`extern "C" __global__ void k(const float *x, int n) {}`)
	f.Add(`extern "C" __global__ void __launch_bounds__(2 * 64) k(long long n)`)
	f.Fuzz(func(t *testing.T, source string) {
		kernels, err := Parse(source)
		if err == nil {
			for _, k := range kernels {
				if k.Name == "" || k.Bound == "" || len(k.Params) == 0 {
					t.Errorf("%q gives %+v", source, k)
				}
			}
		}
	})
}
