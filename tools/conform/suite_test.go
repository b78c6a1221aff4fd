package conform

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// unlessShort skips tests of the suite itself under -short: neither SIMD levels nor goroutines change their
// results.
func unlessShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the suite itself is judged without -short")
	}
}

// card is a backend with the name of a graphics card.
type card struct{ kernels.Backend }

func (card) Name() string { return "cuda:0 x" }

// A card checks no values. NMN_REQUIRE=cuda, which forbids to skip tests for want of a card, accepts that.
func TestRun_ARequiredCardMayLeaveValuesUnchecked(t *testing.T) {
	t.Setenv(RequireEnv, "cuda")
	Run(t, func(t testing.TB) kernels.Backend { return card{OpenCPU(t, 1)} }, Options{
		UncheckedValues: true, Choose: func(c Case) bool { return c.Values },
	})
}

func TestCases_EveryOperationHasOne(t *testing.T) {
	device := reflect.TypeFor[tensor.Device]()
	values, refusals := map[string]int{}, map[string]int{}
	for _, c := range Cases() {
		if c.Refuse {
			refusals[c.Op]++
		} else {
			values[c.Op]++
		}
	}
	backend := reflect.TypeFor[kernels.Backend]()
	for i := range backend.NumMethod() {
		name := backend.Method(i).Name
		if _, ok := device.MethodByName(name); ok {
			continue
		}
		if values[name] == 0 {
			t.Errorf("operation %s has no case", name)
		}
		if refusals[name] == 0 && name != "Zero" { // Zero takes any tensor
			t.Errorf("operation %s has no case of shapes that it must refuse", name)
		}
		delete(values, name)
	}
	for name := range values {
		t.Errorf("case of %s, which is no operation", name)
	}
}

// A card first chooses plans for convolutions, which takes most of the time. Faults of nmn's own kernels show
// before that.
func TestCases_ConvolutionsComeLast(t *testing.T) {
	var earlier string
	for _, c := range Cases() {
		switch ofConv := strings.HasPrefix(c.Op, "Conv"); {
		case ofConv:
			earlier = c.Op
		case earlier != "":
			t.Fatalf("%s is judged after %s", c.Op, earlier)
		}
	}
}

func TestCases_NamesAreUniqueAndSafeForPatterns(t *testing.T) {
	safe := regexp.MustCompile(`^[A-Za-z0-9=,_]+$`)
	seen := map[string]bool{}
	for _, c := range Cases() {
		full := c.Op + "/" + c.Name
		if seen[full] || !safe.MatchString(c.Name) {
			t.Errorf("case %q occurs twice or cannot be selected by its name", full)
		}
		seen[full] = true
		for i, pattern := range strings.Split(rerun(full), "/") { // as go test takes it apart
			part := strings.Split(full, "/")[i]
			if got := regexp.MustCompile(pattern).FindString(part); got != part {
				t.Errorf("pattern %q does not select %q", pattern, part)
			}
		}
	}
}

func TestForbidden_MatchesWholeWords(t *testing.T) {
	for _, c := range []struct{ required, feature, want string }{
		{"", "avx512", ""},
		{"cuda,avx512", "cpu avx512, 2 threads", "avx512"},
		{"cuda", "avx512", ""},
		{"avx", "avx512", ""},
		{" CUDA ", "cuda:0", "cuda"},
	} {
		if got := forbidden(c.required, c.feature); got != c.want {
			t.Errorf("NMN_REQUIRE=%q, %q: %q, want %q", c.required, c.feature, got, c.want)
		}
	}
}
