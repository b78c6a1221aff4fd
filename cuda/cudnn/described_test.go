//go:build cuda

package cudnn

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"nmn/cuda/internal/fakedriver"
)

// describe describes an H100, as read by cuDNN, to the real library, or skips the test if there is none. Some
// engines are compiled when their plan is built, for which cuDNN needs a driver: the fake one, if it was
// built.
func describe(t *testing.T) *Described {
	t.Helper()
	if driver != nil {
		driver.Reset(fakedriver.H200)
	}
	description, err := os.ReadFile("testdata/h100.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Describe(description)
	if errors.Is(err, ErrNoLibrary) {
		t.Skipf("plans were not checked: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// wantsGPCs reports whether the library must know the number of a card's GPCs for its engines 4 and 70, which use
// the instructions of Hopper cards for a fused bias, a mask and a filter gradient in float32. A description has no
// field for it, so cuDNN 9.19 has these engines for no described card. Versions 9.13 and 9.26 do without it.
func wantsGPCs() bool { return Version()/100 == 919 }

// layer is a convolution of VGG16 as a network over whole pictures. Its fully connected layers are
// convolutions over the last map.
type layer struct {
	name              string
	shrink            int // halvings of the picture before it, each rounded up
	c, k, filter, pad int
}

// The first layer has its 3 channels padded as package model pads them.
var vgg16 = []layer{
	{"conv1_1", 0, 3, 64, 3, 1}, {"conv1_2", 0, 64, 64, 3, 1},
	{"conv2_1", 1, 64, 128, 3, 1}, {"conv2_2", 1, 128, 128, 3, 1},
	{"conv3_1", 2, 128, 256, 3, 1}, {"conv3_2", 2, 256, 256, 3, 1}, {"conv3_3", 2, 256, 256, 3, 1},
	{"conv4_1", 3, 256, 512, 3, 1}, {"conv4_2", 3, 512, 512, 3, 1}, {"conv4_3", 3, 512, 512, 3, 1},
	{"conv5_1", 4, 512, 512, 3, 1}, {"conv5_2", 4, 512, 512, 3, 1}, {"conv5_3", 4, 512, 512, 3, 1},
	{"fc6", 5, 512, 4096, 7, 0}, {"fc7", -1, 4096, 4096, 1, 0}, {"fc8", -1, 4096, 1000, 1, 0},
}

// at is the layer's convolution for a batch of square pictures.
func (l layer) at(batch, picture int, p Precision) Conv {
	size := picture
	for range max(l.shrink, 0) {
		size = (size + 1) / 2
	}
	if l.shrink < 0 { // after fc6
		for range 5 {
			size = (size + 1) / 2
		}
		size -= 6
	}
	c := Conv{N: batch, H: size, W: size, C: l.c, K: l.k, R: l.filter, S: l.filter, Pad: l.pad, Precision: p}
	if c.C == 3 {
		c.C = map[Precision]int{Float32: 3, TF32: 4, BFloat16: 8}[p]
	}
	return c
}

// use is a pass that training runs.
type use struct {
	Pass
	Conv
}

// uses lists the passes of the layer. In bfloat16 gradients of filters and the logits are float32.
func (l layer) uses(c Conv) []use {
	wide := c
	wide.Wide = c.Precision == BFloat16
	switch l.name {
	case "conv1_1": // nothing below needs a gradient
		return []use{{ForwardBiasReLU, c}, {FilterGradient, wide}}
	case "conv2_2", "conv3_3": // within a block: the layer below has a ReLU and no pool
		return []use{{ForwardBiasReLU, c}, {FilterGradient, wide}, {MaskedDataGradient, c}}
	case "fc8":
		return []use{{ForwardBias, wide}, {FilterGradient, wide}, {DataGradient, c}}
	}
	return []use{{ForwardBiasReLU, c}, {FilterGradient, wide}, {DataGradient, c}}
}

// hidden reports whether the library has no plan for a pass of a described card: filter gradients in float32
// have engine 70 alone.
func (u use) hidden() bool { return wantsGPCs() && u.Pass == FilterGradient && u.Wide }

// plain lists the replacements of passes that have no plan if cuDNN cannot compile: they have neither a bias
// nor a result wider than the operands.
func (l layer) plain(c Conv) []use {
	return []use{{Forward, c}, {FilterGradient, c}, {DataGradient, c}}
}

// Plans of all passes of all layers, within the scratch memory of Options.
func TestH100_HasPlansForAllOfVGG16(t *testing.T) {
	batches := []struct{ batch, picture int }{{26, 565}, {32, 224}}
	if testing.Short() {
		batches = batches[1:]
	}
	for name, list := range map[string]struct {
		precision Precision
		uses      func(layer, Conv) []use
		compiles  bool
	}{
		"tf32":                  {TF32, layer.uses, false},
		"bf16":                  {BFloat16, layer.uses, true},
		"bf16 without compiler": {BFloat16, layer.plain, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := describe(t)
			if list.compiles && driver == nil {
				t.Skip("plans that are compiled were not checked: there is no fake driver")
			}
			count, hidden := 0, 0
			for _, b := range batches {
				for _, l := range vgg16 {
					for _, u := range list.uses(l, l.at(b.batch, b.picture, list.precision)) {
						p, err := fitting(d, u)
						if u.hidden() && errors.Is(err, ErrUnsupported) {
							hidden++
							continue
						}
						if err != nil {
							t.Errorf("%s: %v", l.name, err)
							continue
						}
						count++
						t.Logf("%-8s %-17v %v: engine %d, %d bytes of scratch memory", l.name, u.Pass, u.Conv, p.Index, p.Workspace)
					}
				}
			}
			want := 0
			if wantsGPCs() && list.compiles {
				want = len(batches) * len(vgg16)
			}
			if hidden != want {
				t.Errorf("cuDNN %d has no plans for %d passes of a described card, want %d", Version(), hidden, want)
			}
			t.Logf("cuDNN %d: plans for %d passes, none for %d", Version(), count, hidden)
		})
	}
}

// Engines for Hopper cards can be built by description, or not by a cuDNN that wants the number of GPCs.
func TestH100_HasEnginesForHopper(t *testing.T) {
	d := describe(t)
	if driver == nil {
		t.Skip("plans that are compiled were not checked: there is no fake driver")
	}
	c := vgg16[5].at(26, 565, BFloat16)
	wide := c
	wide.Wide = true
	for _, u := range []struct {
		use
		hopper, others int64
	}{
		{use{ForwardBiasReLU, c}, 4, 7}, {use{MaskedDataGradient, c}, 4, 1}, {use{FilterGradient, wide}, 70, -1},
	} {
		if _, err := d.Restore(u.Pass, u.Conv, Engine{Index: u.hopper}); (err != nil) != wantsGPCs() {
			t.Errorf("cuDNN %d, %v: engine %d: error %v", Version(), u.Pass, u.hopper, err)
		}
		if u.others < 0 {
			continue
		}
		if _, err := d.Restore(u.Pass, u.Conv, Engine{Index: u.others}); err != nil {
			t.Errorf("cuDNN %d, %v: engine %d: error %v", Version(), u.Pass, u.others, err)
		}
	}
}

// The convolutions of residual nets with a stride. Their pictures are padded as for VGG16.
func TestH100_HasPlansForStrides(t *testing.T) {
	d := describe(t)
	for _, p := range []Precision{Float32, TF32, BFloat16} {
		stem := Conv{N: 8, H: 224, W: 224, C: vgg16[0].at(8, 224, p).C, K: 64, R: 7, S: 7, Pad: 3, Stride: 2, Precision: p}
		for _, c := range []Conv{
			stem,
			{N: 8, H: 56, W: 56, C: 128, K: 128, R: 3, S: 3, Pad: 1, Stride: 2, Precision: p},
			{N: 8, H: 55, W: 57, C: 256, K: 512, R: 1, S: 1, Stride: 2, Precision: p},
		} {
			if c.P() != (c.H+1)/2 || c.Q() != (c.W+1)/2 {
				t.Fatalf("%v gives %d×%d", c, c.P(), c.Q())
			}
			for _, pass := range []Pass{Forward, DataGradient, FilterGradient} {
				if c == stem && pass == DataGradient {
					continue // nothing below needs it
				}
				if _, err := fitting(d, use{pass, c}); err != nil {
					t.Errorf("%v of %v: %v", pass, c, err)
				}
			}
		}
	}
}

// fitting finds the first plan within the default scratch memory.
func fitting(d *Described, u use) (Choice, error) {
	most := Options{}.withDefaults().MaxWorkspace
	for _, limit := range []int{1, 4, 32} { // most often the first one fits, and some shapes are slow to build
		plans, err := d.Plans(u.Pass, u.Conv, limit)
		if err != nil {
			return Choice{}, err
		}
		if i := slices.IndexFunc(plans, func(p Choice) bool { return p.Workspace <= most }); i >= 0 {
			return plans[i], nil
		}
	}
	return Choice{}, fmt.Errorf("%v of %v: all plans need more than %d bytes of scratch memory", u.Pass, u.Conv, most)
}

func TestH100_HasPlansInEveryPrecision(t *testing.T) {
	d := describe(t)
	for _, p := range []Precision{Float32, TF32, BFloat16} {
		for pass := Forward; pass <= MaskedDataGradient; pass++ {
			if pass.besides() && (p == Float32 && !pass.biased() || p != Float32 && driver == nil) {
				continue // float32 has none; the others are compiled
			}
			if _, err := d.Plans(pass, vgg16[5].at(2, 224, p), 1); err != nil {
				t.Error(err)
			}
		}
	}
}

// A bias in bfloat16 has plans that need not be compiled, and its own key among the kept ones.
func TestH100_HasPlansForANarrowBias(t *testing.T) {
	d := describe(t)
	c := vgg16[5].at(26, 565, BFloat16)
	narrow := c
	narrow.NarrowBias = true
	if plansKey(ForwardBiasReLU, c) == plansKey(ForwardBiasReLU, narrow) {
		t.Error("both forms of the bias share a plan")
	}
	for _, pass := range []Pass{ForwardBias, ForwardBiasReLU} {
		plans, err := d.Plans(pass, narrow, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plans {
			t.Logf("%v: %v, %d bytes of scratch memory", pass, p, p.Workspace)
		}
	}
}

func TestRestore_BuildsTheChosenPlanAgain(t *testing.T) {
	d := describe(t)
	for _, pass := range []Pass{Forward, DataGradient, FilterGradient} {
		c := vgg16[8].at(26, 565, BFloat16)
		plans, err := d.Plans(pass, c, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range plans {
			got, err := d.Restore(pass, c, want.Engine)
			if err != nil || got.Workspace != want.Workspace {
				t.Errorf("%v: restored %+v, %v, want %+v", pass, got, err, want)
			}
		}
	}
}

func TestRestore_RefusesWhatTheLibraryDoesNotKnow(t *testing.T) {
	d := describe(t)
	c := vgg16[8].at(2, 224, BFloat16)
	for _, e := range []Engine{{Index: 100000}, {Index: 0, Knobs: []Knob{{Type: 2, Value: 100000}}}} {
		if got, err := d.Restore(Forward, c, e); err == nil {
			t.Errorf("engine %+v became the plan %+v", e, got)
		}
	}
}

func TestPlans_BadShapes(t *testing.T) {
	d := describe(t)
	for _, c := range []Conv{{}, {N: 1, H: 2, W: 2, C: 1, K: 1, R: 3, S: 3}, {N: 1, H: 8, W: 8, C: 1, K: 1, R: 3, S: 3,
		Pad: -1}} {
		if _, err := d.Plans(Forward, c, 1); err == nil {
			t.Errorf("%v has a plan", c)
		}
	}
}

func TestDescribe_IsWrittenAsItWasRead(t *testing.T) {
	text, err := writeDescription(describe(t).properties)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Describe(text)
	if err != nil {
		t.Fatalf("%v of %s", err, text)
	}
	defer again.Close()
	if !bytes.Contains(text, []byte("NVIDIA H100")) {
		t.Errorf("another device: %s", text)
	}
}

func TestDescribe_BadDescriptions(t *testing.T) {
	describe(t)
	for _, text := range []string{"", "{", `{"deviceName":"none"}`} {
		if d, err := Describe([]byte(text)); err == nil {
			d.Close()
			t.Errorf("%q describes a device", text)
		}
	}
}

func TestHandles(t *testing.T) {
	for _, v := range handles {
		first := reflect.TypeOf(v).Elem().Field(0)
		if first.Name != "internal" || first.Type.Kind() != reflect.Pointer {
			t.Errorf("the first field of %T is %s %v, not a handle", v, first.Name, first.Type)
		}
	}
}
