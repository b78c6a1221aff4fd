package cudnn

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var someChoice = Choice{Engine: Engine{Index: 62, Knobs: []Knob{{Type: 2, Value: 3}, {Type: 13, Value: -1}}},
	Workspace: 131, Microseconds: 12.5}

func somePlans(t *testing.T) *plans {
	t.Helper()
	return openPlans(filepath.Join(t.TempDir(), "new"), 91300, "NVIDIA H200 sm_90")
}

func somePlan(n int) Conv {
	return Conv{N: n, H: 8, W: 8, C: 3, K: 4, R: 3, S: 3, Pad: 1, Precision: BFloat16}
}

func keepPlan(t *testing.T, p *plans, key string, c Choice, text []byte) {
	t.Helper()
	if err := p.write(key, c, text); err != nil {
		t.Fatal(err)
	}
}

func TestPlans_ReadWhatWasWritten(t *testing.T) {
	p := somePlans(t)
	long := bytes.Repeat([]byte("a plan "), 10000)
	for key, c := range map[string]struct {
		Choice
		text []byte
	}{
		plansKey(Forward, somePlan(1)):      {someChoice, long},
		plansKey(DataGradient, somePlan(1)): {Choice{Direct: true, Engine: Engine{Index: 1}}, nil},
		plansKey(Forward, somePlan(2)):      {Choice{Engine: Engine{Index: 4}, From: 1}, []byte("{}")},
	} {
		keepPlan(t, p, key, c.Choice, c.text)
		got, text, err := p.read(key)
		if err != nil || !reflect.DeepEqual(got.Choice, c.Choice) || !bytes.Equal(text, c.text) {
			t.Errorf("%s: read %+v with %d bytes, %v, want %+v with %d", key, got, len(text), err, c.Choice, len(c.text))
		}
	}
	if got := filepath.Base(p.file(plansKey(Forward, somePlan(1)))); got != "forward-of-1-8-8-3-by-4-3-3-pad-1-bf16.json" {
		t.Errorf("the file is %s", got)
	}
}

func TestPlans_NoFileIsNoError(t *testing.T) {
	for _, p := range []*plans{somePlans(t), openPlans("", 91300, "d")} {
		if k, text, err := p.read("x"); k != nil || text != nil || err != nil {
			t.Errorf("got %v, %q, %v", k, text, err)
		}
	}
}

func TestPlans_UnfitFilesGiveTheReason(t *testing.T) {
	p, key := somePlans(t), plansKey(Forward, somePlan(1))
	keepPlan(t, p, key, someChoice, []byte("text of a plan"))
	good, err := os.ReadFile(p.file(key))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"cut short":       {string(good[:len(good)/2]), "unexpected end"},
		"empty":           {"", "unexpected end"},
		"other version":   {strings.Replace(string(good), "91300", "92800", 1), "for cuDNN 92800"},
		"other device":    {strings.Replace(string(good), "H200", "H100", 1), `on "NVIDIA H100`},
		"other shape":     {strings.Replace(string(good), "1×8", "2×8", 1), `it is the plan "forward of 2×8`},
		"other format":    {`{"format":1}`, "format 1"},
		"negative engine": {`{"format":2,"engine":-1}`, "engine -1"},
		"huge knob":       {`{"format":2,"knobs":[{"type":1,"value":99999999999}]}`, "knob 1"},
		"many knobs":      {`{"format":2,"knobs":[` + strings.Repeat(`{"type":1},`, 64) + `{}]}`, "65 knobs"},
		"workspace":       {`{"format":2,"workspace":-8}`, "workspace of -8 bytes"},
		"batch":           {`{"format":2,"from":-8}`, "batch of -8"},
		"another type":    {`[]`, "cannot unmarshal array"},
		"damaged text":    {strings.Replace(string(good), `"sha256":"`, `"sha256":"0`, 1), "damaged"},
		"no text":         {`{"format":2,"built":"AAAA"}`, "its built plan"},
		"too long":        {strings.Repeat(" ", maxEntryBytes+1), "more than"},
	} {
		if err := os.WriteFile(p.file(key), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		k, text, err := p.read(key)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), p.file(key)) {
			t.Errorf("%s: error %v, want one with %q and the path", name, err, c.want)
		}
		if k != nil || text != nil {
			t.Errorf("%s: %+v with %q", name, k, text)
		}
	}
}

// A text that grows without end when it is expanded is not expanded.
func TestPlans_TextsAreBounded(t *testing.T) {
	p, key := somePlans(t), plansKey(Forward, somePlan(1))
	keepPlan(t, p, key, someChoice, make([]byte, maxPlanBytes+1))
	if _, _, err := p.read(key); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

func TestPlans_NearestBatch(t *testing.T) {
	p := somePlans(t)
	for n, from := range map[int]int{8: 0, 24: 0, 30: 0, 60: 30, 200: 0} {
		c := someChoice
		c.Index, c.From = int64(n), from
		keepPlan(t, p, plansKey(FilterGradient, somePlan(n)), c, nil)
	}
	keepPlan(t, p, plansKey(FilterGradient, somePlan(100)), Choice{Direct: true}, nil)
	keepPlan(t, p, plansKey(Forward, somePlan(26)), someChoice, nil)
	wide := somePlan(27)
	wide.Wide = true
	keepPlan(t, p, plansKey(FilterGradient, wide), someChoice, nil)
	if got := p.batches(FilterGradient, somePlan(1)); !slices.Equal(got, []int{8, 24, 30, 60, 100, 200}) {
		t.Errorf("batches %v", got)
	}
	for n, want := range map[int]int64{26: 24, 28: 30, 48: 60, 70: 0, 110: 200, 4: 8, 3: 0, 16: 24, 400: 200, 401: 0} {
		k := p.nearest(FilterGradient, somePlan(n))
		switch {
		case want == 0 && k != nil:
			t.Errorf("%d takes the plan of %d", n, k.Index)
		case want != 0 && (k == nil || k.Index != want):
			t.Errorf("%d takes %+v, want that of %d", n, k, want)
		case want == 60 && k.From != 30, want != 0 && want != 60 && k.From != int(want):
			t.Errorf("%d: the plan of %d is from %d", n, want, k.From)
		}
	}
}

func TestPlans_TheOldestOfTooManyGo(t *testing.T) {
	p := somePlans(t)
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		t.Fatal(err)
	}
	name := func(n int) string { return p.file(plansKey(Forward, somePlan(n))) }
	begin := time.Now().Add(-time.Hour)
	for n := 1; n <= maxEntries+1; n++ {
		if err := os.WriteFile(name(n), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if at := begin.Add(time.Duration(n) * time.Millisecond); os.Chtimes(name(n), at, at) != nil {
			t.Fatal("no time")
		}
		if n == maxEntries {
			if err := p.trim(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(name(1)); err != nil {
		t.Errorf("the first went when there were %d: %v", maxEntries, err)
	}
	if err := p.trim(); err != nil {
		t.Fatal(err)
	}
	if left := p.batches(Forward, somePlan(1)); len(left) != maxEntries/2 || left[len(left)-1] != maxEntries+1 {
		t.Errorf("%d are left, the last of %d", len(left), left[len(left)-1])
	}
}

func FuzzDecodePlan(f *testing.F) {
	p := openPlans(f.TempDir(), 1, "d")
	if err := p.write("forward", someChoice, []byte("text")); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(p.file("forward"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"format":2,"engine":1e30}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		k, text, err := decodePlan(bytes.NewReader(content))
		if err != nil {
			return
		}
		if k.Choice.check() != nil || len(text) > maxPlanBytes || len(text) > 0 && k.Sum == "" {
			t.Errorf("accepted %+v with %q", k, text)
		}
	})
}

func TestChoice_TellsEngineAndSettings(t *testing.T) {
	for want, c := range map[string]Choice{
		"cudnn engine 62 2=3,13=-1": someChoice,
		"cudnn engine 0":            {},
		"cudnn algorithm 1":         {Direct: true, Engine: Engine{Index: 1}},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}
