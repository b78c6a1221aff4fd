package conform

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"nmn/kernels"
)

// Options are properties of a device beyond the contracts of the operations.
type Options struct {
	Accuracy Accuracy // zero means the accuracy of the device's precision
	// Other opens the same device with another number of threads: results must be equal bit for bit.
	// nil leaves the check out.
	Other func(t testing.TB) kernels.Backend
	// ZeroAllocs demands that a call allocates nothing on the host.
	ZeroAllocs bool
	// UncheckedValues is set if the device does not read frame offsets and words on the host: empty bags and
	// words beyond the vocabulary are not refused.
	UncheckedValues bool
	// Choose picks the cases that are run. nil picks all, or under -short all that are not Large.
	Choose func(c Case) bool
	// Unsupported names operations that the device does not have, with the reason. They are skipped.
	Unsupported map[string]string
}

// Device is one of several that RunAll judges.
type Device struct {
	Name    string // of its subtest in each case
	Open    func(t testing.TB) kernels.Backend
	Options Options
}

// Run judges a backend by all cases. Under -short it leaves out the cases of the real network's size. Each
// case is a subtest OP/NAME, so that it can be repeated by its printed name.
func Run(t *testing.T, open func(t testing.TB) kernels.Backend, o Options) {
	t.Helper()
	RunAll(t, Device{Open: open, Options: o})
}

// RunAll judges several devices by all cases. The reference, which takes much of the time, computes each case
// once for all of them. Each device is a subtest OP/NAME/DEVICE, or OP/NAME if it has no name.
func RunAll(t *testing.T, devices ...Device) {
	t.Helper()
	all, made := make([]*judged, len(devices)), calls{}
	for i, d := range devices {
		all[i] = open(t, d, made)
	}
	for _, group := range byOp(Cases()) {
		t.Run(group[0].Op, func(t *testing.T) {
			for _, c := range group {
				t.Run(c.Name, func(t *testing.T) {
					for _, d := range all {
						d.subtest(t, c)
					}
				})
			}
		})
	}
	for _, d := range all {
		t.Logf("%s: %d cases, %d skipped", d.backend.Name(), d.run, d.skipped)
	}
}

// judged is a device while it is judged.
type judged struct {
	Options
	name           string
	made           calls // of all devices
	backend, other kernels.Backend
	run, skipped   int
}

func open(t *testing.T, d Device, made calls) *judged {
	t.Helper()
	j := &judged{Options: d.Options, name: d.Name, made: made, backend: d.Open(t)}
	if j.Accuracy == (Accuracy{}) {
		j.Accuracy = accuracyOf(j.backend.Precision())
	}
	if j.Choose == nil {
		j.Choose = func(c Case) bool { return !c.Large || !testing.Short() }
	}
	if j.Other != nil {
		j.other = j.Other(t)
	}
	return j
}

// subtest judges the device by a case, in a subtest of its name if it has one.
func (d *judged) subtest(t *testing.T, c Case) {
	switch {
	case !d.Choose(c), c.Values && d.UncheckedValues: // the second is no lack: NMN_REQUIRE does not ask for it
		d.skipped++
	case d.name == "":
		d.judge(t, c)
	default:
		t.Run(d.name, func(t *testing.T) { d.judge(t, c) })
	}
}

func (d *judged) judge(t *testing.T, c Case) {
	d.skipped++
	if reason := d.skips(c); reason != "" {
		Skip(t, d.backend.Name(), reason)
	}
	d.skipped--
	d.run++
	for _, err := range d.made.judge(d.backend, d.other, c, d.Options) {
		t.Error(err)
	}
	if t.Failed() {
		t.Logf("on %s; again: go test -run '%s'", d.backend.Name(), rerun(t.Name()))
	}
}

// rerun is the pattern that runs one subtest alone.
func rerun(name string) string { return "^" + strings.ReplaceAll(name, "/", "$/^") + "$" }

// Small picks the cases that are not of the size of the real network.
func Small(c Case) bool { return !c.Large }

// skips returns why a device cannot run a case, empty when it can.
func (o Options) skips(c Case) string {
	if reason, unsupported := o.Unsupported[c.Op]; unsupported {
		return c.Op + " is not supported: " + reason
	}
	return ""
}

// RequireEnv names the environment variable that lists, with commas, the devices and levels whose
// tests must not be skipped, for example "cuda,avx512".
const RequireEnv = "NMN_REQUIRE"

// Skip skips a test that needs a device or instruction-set level, with the reason, unless NMN_REQUIRE forbids
// it: then the test fails. feature is the missing one, for example "avx512", or a longer description that
// contains it as a word.
func Skip(t testing.TB, feature, reason string) {
	t.Helper()
	if required := forbidden(os.Getenv(RequireEnv), feature); required != "" {
		t.Fatalf("%s: %s, but %s=%s demands it", feature, reason, RequireEnv, required)
	}
	t.Skipf("%s: %s", feature, reason)
}

// forbidden returns the first required word that occurs in a feature.
func forbidden(required, feature string) string {
	words := strings.FieldsFunc(strings.ToLower(feature), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	for _, word := range strings.Split(strings.ToLower(required), ",") {
		if word = strings.TrimSpace(word); word != "" && slices.Contains(words, word) {
			return word
		}
	}
	return ""
}

// byOp groups cases by operation, in the order of each one's first case.
func byOp(cases []Case) [][]Case {
	var groups [][]Case
	place := map[string]int{}
	for _, c := range cases {
		i, ok := place[c.Op]
		if !ok {
			i = len(groups)
			place[c.Op], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// Bench times all cases of the real network's size on a backend: GFLOP/s if arithmetic decides, GB/s of
// operands if memory does.
func Bench(b *testing.B, open func(t testing.TB) kernels.Backend, o Options) {
	backend := open(b)
	for _, c := range Cases() {
		if !c.Large || c.Refuse || o.Unsupported[c.Op] != "" {
			continue
		}
		b.Run(fmt.Sprintf("op=%s/%s", c.Op, c.Name), func(b *testing.B) {
			k := calls{}.make(c, backend)
			release, err := k.bind(backend, 0)
			defer release()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := k.guarded(backend); err != nil {
					b.Fatal(err)
				}
			}
			k.report(b)
		})
	}
}

func (k *call) report(b *testing.B) {
	seconds := b.Elapsed().Seconds() / float64(b.N)
	if k.flops > 0 {
		b.ReportMetric(k.flops/seconds/1e9, "GFLOP/s")
		return
	}
	moved := 0
	for _, o := range k.operands {
		moved += o.length() * o.dtype().Size()
	}
	b.ReportMetric(float64(moved)/seconds/1e9, "GB/s")
}
