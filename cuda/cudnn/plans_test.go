package cudnn

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func somePlans() *plans {
	p := newPlans(91300, "NVIDIA H200")
	p.Choices[plansKey(Forward, Conv{N: 1, H: 8, W: 8, C: 3, K: 4, R: 3, S: 3, Pad: 1, Precision: BFloat16})] = Choice{
		Engine: Engine{Index: 62, Knobs: []Knob{{Type: 2, Value: 3}, {Type: 13, Value: -1}}}, Workspace: 131, Microseconds: 12.5,
	}
	p.Choices[plansKey(DataGradient, Conv{N: 1, H: 8, W: 8, C: 4, K: 4, R: 1, S: 1})] = Choice{Direct: true, Engine: Engine{Index: 1}}
	return p
}

func TestPlans_ReadWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "plans.json")
	want := somePlans()
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readPlans(path, want.Library, want.Device)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
}

func TestPlans_NoFileIsNoError(t *testing.T) {
	p, err := readPlans(filepath.Join(t.TempDir(), "plans.json"), 91300, "d")
	if err != nil || len(p.Choices) != 0 {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestPlans_UnfitFilesGiveNoPlansAndTheReason(t *testing.T) {
	good, other := filepath.Join(t.TempDir(), "good.json"), somePlans()
	if err := other.write(good); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text    string
		library int
		want    string
	}{
		"cut short":       {string(text[:len(text)/2]), 91300, "unexpected end"},
		"empty":           {"", 91300, "unexpected end"},
		"other version":   {string(text), 92800, "it is for cuDNN 91300"},
		"other format":    {`{"format":2}`, 91300, "format 2"},
		"no plans":        {`{"format":1}`, 91300, "plans are missing"},
		"negative engine": {`{"format":1,"plans":{"x":{"engine":-1}}}`, 91300, `plan "x": engine -1`},
		"huge knob":       {`{"format":1,"plans":{"x":{"knobs":[{"type":1,"value":99999999999}]}}}`, 91300, "knob 1"},
		"many knobs":      {`{"format":1,"plans":{"x":{"knobs":[` + strings.Repeat(`{"type":1},`, 64) + `{}]}}}`, 91300, "65 knobs"},
		"workspace":       {`{"format":1,"plans":{"x":{"workspace":-8}}}`, 91300, "workspace of -8 bytes"},
		"another type":    {`{"format":1,"plans":[]}`, 91300, "cannot unmarshal array"},
	} {
		path := filepath.Join(t.TempDir(), "plans.json")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := readPlans(path, c.library, "NVIDIA H200")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one with %q and the path", name, err, c.want)
		}
		if p == nil || len(p.Choices) != 0 || p.Choices == nil {
			t.Errorf("%s: plans %+v, want none that can be added to", name, p)
		}
	}
}

func FuzzDecodePlans(f *testing.F) {
	f.Add([]byte(`{"format":1,"cudnn":91300,"device":"d","plans":{"forward":{"engine":1,"knobs":[{"type":2,"value":3}],"workspace":4}}}`))
	f.Add([]byte(`{"format":1,"plans":{"x":{"direct":true,"engine":1e30}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decodePlans(bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range p.Choices {
			if c.check() != nil || len(c.Knobs) > maxKnobs {
				t.Errorf("accepted %+v", c)
			}
		}
	})
}

func TestChoice_TellsEngineAndSettings(t *testing.T) {
	for want, c := range map[string]Choice{
		"cudnn engine 62 2=3,13=-1": {Engine: Engine{Index: 62, Knobs: []Knob{{2, 3}, {13, -1}}}, Workspace: 131},
		"cudnn engine 0":            {},
		"cudnn algorithm 1":         {Direct: true, Engine: Engine{Index: 1}},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}
