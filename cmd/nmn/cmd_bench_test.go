package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/bench/measure"
	"nmn/internal/expect"
	"nmn/run"
	"nmn/tools/conform"
)

// quickBench makes a command line of nmn bench that takes a moment.
func quickBench(name string, args ...string) []string {
	return append([]string{"bench", name, "--repeats", "2", "--warmup", "1", "--threads", "1", "--json"}, args...)
}

// positive checks that fields of figures are numbers above 0, and finite others numbers at all.
func positive(t *testing.T, figures map[string]any, above0 []string, others ...string) {
	t.Helper()
	for _, name := range above0 {
		if v, ok := figures[name].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", name, figures[name])
		}
	}
	for _, name := range others {
		if _, ok := figures[name].(float64); !ok {
			t.Errorf("%s is %v", name, figures[name])
		}
	}
}

func TestBenchStep_FieldsForMachines(t *testing.T) {
	f := readJSON(t, must(t, quickBench("step", "--batch", "2", "--frames", "3", "--width", "0.5")...))
	positive(t, f, []string{"step_ms", "step_min_ms", "step_max_ms", "forward_ms", "update_ms", "images_per_s",
		"gflops", "peak_memory_mib", "device_memory_mib"}, "backward_ms", "allocs_per_step")
	if f["batch"] != 2. || f["frames"] != 3. || f["mil"] != true || f["nmn"] != true {
		t.Errorf("the setting is told as %v", f)
	}
	least, middle, most := f["step_min_ms"].(float64), f["step_ms"].(float64), f["step_max_ms"].(float64)
	if least > middle || middle > most {
		t.Errorf("steps from %v to %v with the median %v", least, most, middle)
	}
	// The work of six pictures, by the layers of the net.
	net := measure.Net{Arch: run.NetScenes, Width: .5, MIL: true, Noise: true}
	want := 0.0
	for _, l := range net.Model().Layers() {
		want += 6 * l.TrainFLOP / 1e9
	}
	if got := f["gflop"].(float64); math.Abs(got-want) > 1e-9*want {
		t.Errorf("%v GFLOP, want %v", got, want)
	}
}

func TestBenchStep_WithoutInstancesAndNoiseModel(t *testing.T) {
	f := readJSON(t, must(t, quickBench("step", "--batch", "2", "--width", "0.5", "--no-mil", "--no-nmn")...))
	if f["mil"] != false || f["nmn"] != false {
		t.Errorf("the setting is told as %v", f)
	}
}

// The table has all operations of a step, with every pass of every convolution, and each has a name.
func TestBenchOps_TellsTheWholeStep(t *testing.T) {
	skipShort(t, "measures every operation")
	t.Parallel()
	f := readJSON(t, must(t, quickBench("ops", "--batch", "2", "--width", "0.5")...))
	positive(t, f["product_gflops"].(map[string]any), []string{"float32"})
	positive(t, f, []string{"copy_gb_per_s", "least_ms"})
	found := map[string]int{}
	share, work := 0.0, 0.0
	for _, o := range f["ops"].([]any) {
		op := o.(map[string]any)
		layer, pass := op["layer"].(string), op["pass"].(string)
		found[layer+" "+pass]++
		share += op["share"].(float64)
		positive(t, op, []string{"bytes"}, "ms", "gb_per_s")
		if gflop, ok := op["gflop"].(float64); ok {
			if layer != "nmn" {
				work += gflop
			}
			if op["algorithm"] == "" || op["algorithm"] == nil {
				t.Errorf("%s of %s has no algorithm", pass, layer)
			}
		}
		if layer == "unnamed" || layer == "" {
			t.Errorf("%s of %v has no layer", pass, op["shape"])
		}
	}
	for _, want := range []string{
		"input normalize", "conv1_1 forward", "conv1_1 filter gradient", "conv4_1 bias gradient",
		"conv2_1 data gradient", "pool1 max pool", "pool1 max pool and bias gradient", "fc8 forward",
		"fc8 bias gradient", "conv4_1 bag pool", "conv4_1 bag pool gradient", "nmn forward", "nmn filter gradient",
		"noise noise step", "noise copy", "all gradient norm", "all sgd",
	} {
		if found[want] != 1 {
			t.Errorf("%s is told %d times", want, found[want])
		}
	}
	if found["conv1_1 data gradient"] != 0 {
		t.Error("the first layer has no data gradient")
	}
	if math.Abs(share-1) > 1e-9 {
		t.Errorf("shares sum to %v", share)
	}
	net, want := measure.Net{Arch: run.NetScenes, Width: .5, MIL: true, Noise: true}, 0.0
	for _, l := range net.Model().Layers() {
		want += 2 * l.TrainFLOP / 1e9
	}
	if math.Abs(work-want) > 1e-9*want {
		t.Errorf("%v GFLOP in all convolutions, want %v", work, want)
	}
}

func TestBenchOps_TellsDropoutAndTheTableForPeople(t *testing.T) {
	t.Parallel()
	out := must(t, "bench", "ops", "--model", "vgg16", "--width", "0.02", "--size", "200", "--classes", "3",
		"--batch", "1", "--repeats", "1", "--warmup", "0")
	wantParts(t, out, "vgg16, 200 pixels, width 0.02, 1 pictures, with MIL", "fc6      dropout ",
		"fc7      dropout gradient ", "pool5    max pool ", "\nall: ", " reached % ",
		"\nthe device: ", " GFLOP/s in a large product of float32, ", "; at these rates all would take ")
}

func TestBenchOps_RefusesFlagsThatDoNotGoTogether(t *testing.T) {
	for _, args := range [][]string{
		{"--precision", "fp16"}, {"--device", "gpu"}, {"--size", "3"},
	} {
		wantUsage(t, call(t, append([]string{"bench", "ops"}, args...)...))
	}
}

func TestBenchMachine_FieldsForMachines(t *testing.T) {
	machine := readJSON(t, must(t, quickBench("machine", "--sizes", "64,100", "--mib", "4")...))
	products := machine["products"].([]any)
	if len(products) != 2 || products[1].(map[string]any)["size"] != 100. {
		t.Errorf("products %v", products)
	}
	for _, product := range products {
		positive(t, product.(map[string]any), []string{"ms", "gflops"})
	}
	copied := machine["copy"].(map[string]any)
	positive(t, copied, []string{"ms", "gb_per_s"})
	if copied["bytes"] != float64(4<<20) {
		t.Errorf("%v bytes", copied["bytes"])
	}
	for sizes, mib := range map[string]string{"": "1", "8": "0"} {
		f := readJSON(t, must(t, quickBench("machine", "--sizes", sizes, "--mib", mib)...))
		if (f["products"] == nil) != (sizes == "") || (f["copy"] == nil) != (mib == "0") {
			t.Errorf("sizes %q, %s MiB: %v", sizes, mib, f)
		}
	}
}

// On the device that NMN_TEST_DEVICE names, the host by default: `make emulate` has the emulator there.
func TestTinyNet_BenchmarksOnADevice(t *testing.T) {
	t.Parallel()
	device := cmp.Or(os.Getenv(conform.DeviceEnv), "cpu")
	benchmark := func(name string, args ...string) map[string]any {
		return readJSON(t, must(t, append([]string{"bench", name, "--json", "--repeats", "2", "--warmup", "1",
			"--device", device}, args...)...))
	}
	net := []string{"--batch", "1", "--frames", "2", "--width", "0.1", "--size", "32"}
	step := benchmark("step", net...)
	positive(t, step, []string{"step_ms", "forward_ms", "update_ms", "device_memory_mib"})
	measured := benchmark("ops", net...)
	for _, o := range measured["ops"].([]any) {
		op := o.(map[string]any)
		if _, convolution := op["gflop"]; convolution && op["algorithm"] == nil {
			t.Errorf("%s of %s has no algorithm", op["pass"], op["layer"])
		}
		if factors, multiplies := op["factors"].(string); multiplies {
			positive(t, measured["product_gflops"].(map[string]any), []string{factors})
		}
	}
	machine := benchmark("machine", "--mib", "1", "--sizes", "32")
	positive(t, machine["copy"].(map[string]any), []string{"gb_per_s"})
	for _, product := range machine["products"].([]any) {
		positive(t, product.(map[string]any), []string{"ms"})
	}
	if name := step["device"].(string); !strings.HasPrefix(name, device) {
		t.Errorf("%s was asked for, %s measured", device, name)
	}
}

func TestBenchStep_OfATransformer(t *testing.T) {
	t.Parallel()
	f := readJSON(t, must(t, quickBench("step", "--model", "vit-s14", "--batch", "1", "--size", "14")...))
	positive(t, f, []string{"image_ms", "images_per_s", "peak_memory_mib", "device_memory_mib"})
	if f["model"] != "vit-s14" || f["size"] != 14. {
		t.Errorf("measured was %v", f)
	}
}

func TestBenchStep_OfTheCaptioner(t *testing.T) {
	f := readJSON(t, must(t, quickBench("step", "--model", "s2vt", "--batch", "3", "--frames", "4", "--width", "0.01",
		"--classes", "20", "--vocab-size", "50")...))
	positive(t, f, []string{"step_ms", "step_min_ms", "step_max_ms", "captions_per_s", "gflops", "peak_memory_mib",
		"device_memory_mib"})
	for name, want := range map[string]float64{"batch": 3, "frames": 4, "features": 20, "vocabulary": 50, "hidden": 7,
		"words_said": 4 + 4 + 5 + 3} {
		if f[name] != want {
			t.Errorf("%s is %v, want %v", name, f[name], want)
		}
	}
	// Products with the weights, by hand: 12 frames of 20 features in 7 dimensions; 4 + 6 steps of 3 captions.
	want := 2 * (2*12*20*7 + 3*(12*7*28+2*3*9*7*28+3*10*7*28+3*6*3*28+16*7*50.)) / 1e9
	if got := f["gflop"].(float64); math.Abs(got-want) > 1e-9*want {
		t.Errorf("%v GFLOP, want %v", got, want)
	}
	out := must(t, "bench", "step", "--model", "s2vt", "--batch", "1", "--frames", "2", "--width", "0.01",
		"--classes", "3", "--vocab-size", "9", "--repeats", "1")
	wantParts(t, out, "s2vt, 1 captions of 5 words in all, 2 frames of 3 features, 7 cells, vocabulary of 9, on cpu")
}

func TestBenchStep_RefusesFlagsOfOtherNets(t *testing.T) {
	for _, args := range [][]string{
		{"--model", "s2vt", "--no-mil"}, {"--model", "s2vt", "--size", "32"}, {"--model", "s2vt", "--width", "0"},
		{"--model", "s2vt", "--vocab-size", "2"}, {"--model", "s2vt", "--batch", "0"},
		{"--model", "scenes", "--vocab-size", "50"}, {"--model", "vit-s14", "--frames", "2"},
		{"--model", "vit-s14", "--batch", "0"}, {"--model", "vit-s14", "--size", "15"},
		{"--model", "vit-s14", "--size", "-14"},
	} {
		wantUsage(t, call(t, append([]string{"bench", "step"}, args...)...))
	}
}

// jpegFolder has n small pictures and a file that is none.
func jpegFolder(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	img := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = uint8(i)
	}
	for i := range n {
		img.Set(0, 0, color.White)
		var b bytes.Buffer
		expect.OK(t, jpeg.Encode(&b, img, nil))
		write(t, filepath.Join(dir, string(rune('a'+i))+".jpg"), b.Bytes())
	}
	write(t, filepath.Join(dir, "notes.txt"), []byte("no picture"))
	return dir
}

func TestBenchLoad_FieldsForMachines(t *testing.T) {
	dir := jpegFolder(t, 3)
	f := readJSON(t, must(t, "bench", "load", dir, "--images", "7", "--batch", "2", "--size", "32", "--workers", "2",
		"--repeats", "3", "--step-ms", "1", "--json"))
	positive(t, f, []string{"images_per_s", "images_per_s_min", "images_per_s_max", "image_ms", "bytes_per_s"},
		"wait_ms", "wait_share", "allocs_per_image")
	if f["images"] != 7. || f["batch"] != 2. || f["size"] != 32. || f["bad_samples"] != 0. {
		t.Errorf("the setting is told as %v", f)
	}
	// Four batches of a millisecond each.
	if took := f["image_ms"].(float64) * 7; took < 4 {
		t.Errorf("a pass took %v ms", took)
	}
	if share := f["wait_share"].(float64); share < 0 || share > 1 {
		t.Errorf("waited for %v of the time", share)
	}
	if least, middle := f["images_per_s_min"].(float64), f["images_per_s"].(float64); least > middle {
		t.Errorf("%v images/s, at least %v", middle, least)
	}
}

func TestBenchLoad_TellsBrokenPictures(t *testing.T) {
	dir := jpegFolder(t, 2)
	write(t, filepath.Join(dir, "broken.jpg"), []byte("\xff\xd8\xff"))
	wantParts(t, must(t, "bench", "load", dir, "--repeats", "1"), "3 pictures of "+dir, "1 pictures could not be used")
	alone := t.TempDir()
	write(t, filepath.Join(alone, "broken.jpg"), []byte("\xff\xd8\xff"))
	wantFailure(t, call(t, "bench", "load", alone), "broken.jpg")
}

// What pictures are changed by is part of the figures.
func TestBenchLoad_TellsAugmentations(t *testing.T) {
	dir := jpegFolder(t, 2)
	out := must(t, "bench", "load", dir, "--repeats", "1", "--size", "32", "--augment", "light")
	if want := "random crop 0.5:1 of the area, ratio 0.75:1.3333, color jitter 0.2,0.2,0.2,0.02\n"; !strings.HasSuffix(out,
		want) {
		t.Errorf("got %s, want %s at its end", out, want)
	}
}

func TestBenchLoad_RefusesWhatItCannotMeasure(t *testing.T) {
	dir := jpegFolder(t, 1)
	for _, args := range [][]string{{}, {dir, dir}, {filepath.Join(dir, "a.jpg")}, {t.TempDir()},
		{dir, "--repeats", "0"}, {dir, "--step-ms", "-1"}, {dir, "--workers", "0"}, {dir, "--size", "0"},
		{dir, "--images", "-1"}, {dir, "--random-crop", "2"}, {dir, "--rand-augment", "2"}} {
		wantCode(t, call(t, append([]string{"bench", "load"}, args...)...), exitUsage)
	}
}
