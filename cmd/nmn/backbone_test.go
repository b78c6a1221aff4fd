package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels/simd"
	"nmn/run"
	runaudit "nmn/run/audit"
	"nmn/tools/conform"
	"nmn/train"
)

// tinyVGG writes random weights of VGG16 with few channels, under torchvision's names.
func tinyVGG(t *testing.T, file string, seed uint64) {
	t.Helper()
	stream := rng.New(seed)
	var tensors []safetensors.Tensor
	layer := func(name string, deviation float64, shape ...int) {
		n := 1
		for _, side := range shape {
			n *= side
		}
		weights := make([]float32, n)
		for i := range weights {
			weights[i] = float32(stream.Normal(0, deviation))
		}
		tensors = append(tensors, safetensors.Tensor{Name: name + ".weight", Shape: shape, Data: weights},
			safetensors.Tensor{Name: name + ".bias", Shape: shape[:1], Data: make([]float32, shape[0])})
	}
	in := 3
	for i, at := range []int{0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28} {
		out := []int{4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8}[i]
		layer(fmt.Sprintf("features.%d", at), .5, out, in, 3, 3)
		in = out
	}
	layer("classifier.0", .1, 16, in*7*7)
	layer("classifier.3", .5, 16, 16)
	layer("classifier.6", .5, 10, 16)
	writeTensors(t, file, tensors)
}

func writeTensors(t *testing.T, file string, tensors []safetensors.Tensor) {
	t.Helper()
	_, err := safetensors.WriteFile(file, nil, tensors)
	expect.OK(t, err)
}

// colouredPictures writes pictures that are mostly of one of three colours, and a manifest that names it; of each sixth
// one it names another.
func colouredPictures(t *testing.T, folder string, n int) (manifest string) {
	t.Helper()
	var list bytes.Buffer
	table := csv.NewWriter(&list)
	_ = table.Write([]string{"path", "labels"})
	stream, names := rng.New(7), []string{"red", "green", "blue"}
	for i := range n {
		img := image.NewNRGBA(image.Rect(0, 0, 40+i%5, 36+i%3))
		for at := range img.Pix {
			img.Pix[at] = uint8(stream.Intn(60))
			if at%4 == i%3 {
				img.Pix[at] += 180
			} else if at%4 == 3 {
				img.Pix[at] = 255
			}
		}
		img.Set(0, 0, color.White)
		var data bytes.Buffer
		expect.OK(t, png.Encode(&data, img))
		name := fmt.Sprintf("p%03d.png", i)
		writeFiles(t, folder, data.Bytes(), name)
		label := i
		if i%6 == 5 {
			label++
		}
		_ = table.Write([]string{name, names[label%3]})
	}
	table.Flush()
	writeFiles(t, folder, list.Bytes(), "list.csv")
	return filepath.Join(folder, "list.csv")
}

// backboneRun returns the arguments of a short training on features of a backbone.
func backboneRun(manifest, weights, dir string, more ...string) []string {
	return append([]string{"train", manifest, "--backbone", weights, "--input-size", "32", "--run-dir", dir,
		"--set", "net.backbone_layer=pool5", "--set", "net.hidden=[]", "--set", "train.stage1_epochs=20", "--learning-rate",
		"0.05", "--threads", "1", "-q"}, more...)
}

func TestExtract_ByPretrainedWeights(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	weights := filepath.Join(dir, "vgg.safetensors")
	tinyVGG(t, weights, 1)
	manifest := colouredPictures(t, folder, 21)
	writeFiles(t, folder, []byte("no picture"), "p100.png")
	x, y, ids := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.safetensors"), filepath.Join(dir, "ids.txt")
	c := succeeds(t, "extract", "--weights", weights, folder, "--layer", "pool5,fc7", "--output", x+","+y,
		"--output-ids", ids)
	wantParts(t, c.out, "21 rows of 8 features, pool5", "21 rows of 16 features, fc7")
	wantParts(t, c.err, "VGG16 at 224 pixels", "shorter side to 256, bilinear, middle 224×224", "p100.png")
	if names := strings.Fields(read(t, ids)); len(names) != 21 || !strings.HasSuffix(names[20], "p020.png") {
		t.Errorf("identifiers %q", names)
	}
	other, labels := filepath.Join(dir, "other.npy"), filepath.Join(dir, "labels.csv")
	must(t, "extract", "--weights", weights, "--set", "data.manifest="+manifest, "--set", "data.validation_share=0",
		"--set", "data.test_share=0", "--output", other, "--output-labels", labels, "--batch-size", "5", "--threads", "2",
		"--set", "run.workers=3")
	if !bytes.Equal(readBytes(t, x), readBytes(t, other)) {
		t.Error("features depend on the size of batches, or on how pictures are named")
	}
	if rows, table := readRows(t, other, labels); len(rows) != 21 || len(table.Labels.Words) != 3 {
		t.Errorf("%d rows, labels %v", len(rows), table.Labels.Words)
	}
	extractsAList(t, weights, folder, x)
	config := must(t, "config", "--set", "data.manifest=m.csv", "--backbone", weights)
	wantParts(t, config, "VGG16", "224", "256", "antialias", "pool5", "fc7")
}

// extractsAList takes pictures of a folder in the order of a list, given the rows of all.
func extractsAList(t *testing.T, weights, folder, all string) {
	t.Helper()
	dir := t.TempDir()
	list, x, ids := filepath.Join(dir, "list.txt"), filepath.Join(dir, "x.npy"), filepath.Join(dir, "ids.txt")
	order := []int{7, 2, 20, 3}
	var lines string
	for _, i := range order {
		lines += filepath.Join(folder, fmt.Sprintf("p%03d.png", i)) + "\n"
	}
	write(t, list, lines)
	must(t, "extract", "--weights", weights, "--layer", "pool5", list, "--output", x, "--output-ids", ids)
	want, _ := readRows(t, all, "")
	got, _ := readRows(t, x, "")
	if read(t, ids) != lines || len(got) != len(order) {
		t.Fatalf("%d rows of %q, want %q", len(got), readBytes(t, ids), lines)
	}
	for row, i := range order {
		if !slices.Equal(got[row], want[i]) {
			t.Errorf("row %d is not that of picture %d", row, i)
		}
	}
	write(t, list, lines+"nothing.png\n")
	wantParts(t, succeeds(t, "extract", "--weights", weights, "--layer", "pool5", list, "--output", x).err,
		filepath.Join(dir, "nothing.png"), "1 of 5 pictures could not be read and were left out")
}

// randomTensors makes tensors of normal numbers, and of positive ones where a variance is.
func randomTensors(shapes map[string][]int) (tensors []safetensors.Tensor) {
	stream := rng.New(3)
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		n := 1
		for _, side := range shapes[name] {
			n *= side
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(stream.Normal(0, .2))
			if strings.HasSuffix(name, "_var") || strings.Contains(name, "norm") && strings.HasSuffix(name, ".weight") {
				values[i] = 1 + values[i]*values[i]
			}
		}
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: shapes[name], Data: values})
	}
	return tensors
}

// tinyTransformer is DINOv2 in timm's layout with one block of width 64.
func tinyTransformer() map[string][]int {
	const d = 64
	return map[string][]int{
		"cls_token": {1, 1, d}, "pos_embed": {1, 1 + 5*5, d}, "patch_embed.proj.weight": {d, 3, 14, 14},
		"patch_embed.proj.bias": {d}, "norm.weight": {d}, "norm.bias": {d},
		"blocks.0.norm1.weight": {d}, "blocks.0.norm1.bias": {d}, "blocks.0.norm2.weight": {d}, "blocks.0.norm2.bias": {d},
		"blocks.0.attn.qkv.weight": {3 * d, d}, "blocks.0.attn.qkv.bias": {3 * d}, "blocks.0.attn.proj.weight": {d, d},
		"blocks.0.attn.proj.bias": {d}, "blocks.0.mlp.fc1.weight": {4 * d, d}, "blocks.0.mlp.fc1.bias": {4 * d},
		"blocks.0.mlp.fc2.weight": {d, 4 * d}, "blocks.0.mlp.fc2.bias": {d}, "blocks.0.ls1.gamma": {d},
		"blocks.0.ls2.gamma": {d},
	}
}

// narrowResNet is ResNet-18 in torchvision's layout with few channels.
func narrowResNet() map[string][]int {
	shapes := map[string][]int{}
	conv := func(name, norm string, out, in, side int) {
		shapes[name+".weight"] = []int{out, in, side, side}
		for _, of := range []string{"weight", "bias", "running_mean", "running_var"} {
			shapes[norm+"."+of] = []int{out}
		}
	}
	conv("conv1", "bn1", 4, 3, 7)
	in := 4
	for stage, out := range []int{4, 8, 8, 16} {
		for block := range 2 {
			at := fmt.Sprintf("layer%d.%d.", stage+1, block)
			conv(at+"conv1", at+"bn1", out, in, 3)
			conv(at+"conv2", at+"bn2", out, out, 3)
			if block == 0 && stage > 0 {
				conv(at+"downsample.0", at+"downsample.1", out, in, 1)
			}
			in = out
		}
	}
	return shapes
}

func TestExtract_ByATransformerAndAResNet(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	colouredPictures(t, folder, 9)
	for _, c := range []struct {
		name, says string
		shapes     map[string][]int
		size       string
		missing    string // a tensor without which the file is refused
		layers     map[string]int
	}{
		{"vit", "/14", tinyTransformer(), "56", "blocks.0.attn.proj.bias", map[string]int{"cls": 64, "mean": 64,
			"cls+mean": 128}},
		{"resnet", "ResNet-18", narrowResNet(), "64", "layer2.0.bn1.running_var", map[string]int{"pool5": 16}},
	} {
		file, broken := filepath.Join(dir, c.name+".safetensors"), filepath.Join(dir, c.name+"-broken.safetensors")
		writeTensors(t, file, randomTensors(c.shapes))
		for layer, width := range c.layers {
			x, y := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
			said := succeeds(t, "extract", "--weights", file, folder, "--input-size", c.size, "--layer", layer, "--output", x)
			wantParts(t, said.out, fmt.Sprintf("9 rows of %d features, %s", width, layer))
			wantParts(t, said.err, c.says)
			must(t, "extract", "--weights", file, folder, "--input-size", c.size, "--layer", layer, "--output", y,
				"--batch-size", "4", "--threads", "2", "--set", "run.workers=1")
			if !bytes.Equal(readBytes(t, x), readBytes(t, y)) {
				t.Errorf("%s: %s depends on batches or threads", c.name, layer)
			}
			if rows, _ := readRows(t, x, ""); slices.Equal(rows[0], rows[1]) {
				t.Errorf("%s: %s is the same for two pictures", c.name, layer)
			}
		}
		delete(c.shapes, c.missing)
		writeTensors(t, broken, randomTensors(c.shapes))
		said := call(t, "extract", "--weights", broken, folder, "--input-size", c.size, "--output",
			filepath.Join(dir, "none.npy"))
		if said.code == exitOK || !strings.Contains(said.err, c.missing) {
			t.Errorf("%s without %s: %d: %s", c.name, c.missing, said.code, said.err)
		}
	}
}

func TestExtract_RefusesWeightsWithAWord(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	weights, others := filepath.Join(dir, "vgg.safetensors"), filepath.Join(dir, "others.safetensors")
	tinyVGG(t, weights, 1)
	writeTensors(t, others, []safetensors.Tensor{{Name: "a.b", Shape: []int{1}, Data: []float32{1}}})
	colouredPictures(t, folder, 2)
	x := filepath.Join(dir, "x.npy")
	for want, args := range map[string][]string{
		"a.b":                     {"--weights", others, folder, "--output", x},
		"it has pool5":            {"--weights", weights, folder, "--output", x, "--layer", "cls"},
		"--input-size is":         {"--weights", weights, folder, "--output", x, "--input-size", "-3"},
		"leave it out":            {"--weights", weights, folder, "--output", x, "--set", "data.fit=square"},
		"no such file":            {"--weights", filepath.Join(dir, "none.pth"), folder, "--output", x},
		"file for each":           {"--weights", weights, folder, "--output", x, "--layer", "pool5,fc7"},
		"no layer \"fc7\"":        {"--weights", weights, folder, "--output", x, "--input-size", "64", "--layer", "fc7"},
		"type nmn extract {MODEL": {"--output", x},
	} {
		c := call(t, append([]string{"extract"}, args...)...)
		if c.code == exitOK || !strings.Contains(c.err, want) {
			t.Errorf("%q: exit code %d: %s, want %q", args, c.code, c.err, want)
		}
		if _, err := os.Stat(x); err == nil {
			t.Fatalf("%q left a file", args)
		}
	}
}

func TestTrain_BehindABackbone(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	work := t.TempDir()
	weights, dir := filepath.Join(work, "vgg.safetensors"), filepath.Join(work, "run")
	tinyVGG(t, weights, 1)
	manifest := colouredPictures(t, work, 90)
	must(t, backboneRun(manifest, weights, dir)...)
	parts := func() (names []string) {
		names, _ = filepath.Glob(filepath.Join(dir, run.FeaturesFolder, "*", "*.safetensors"))
		return names
	}
	before := parts()
	if len(before) == 0 {
		t.Fatal("the run folder keeps no features")
	}
	page := read(t, filepath.Join(dir, "report.html"))
	if !strings.Contains(page, "data:image/jpeg") {
		t.Error("the page of the run shows no pictures")
	}
	must(t, "audit", dir, "-q")
	audit, err := runaudit.Open(t.Context(), dir, runaudit.Options{})
	expect.OK(t, err)
	small, err := audit.Picture(t.Context(), audit.Data().Train.IDs[0])
	if err := errors.Join(err, audit.Close()); err != nil || !audit.HasPictures() ||
		!bytes.HasPrefix(small, []byte("\xff\xd8")) {
		t.Errorf("the audit has no pictures: %v", err)
	}

	predicted := must(t, "predict", dir, filepath.Join(work, "p000.png"), filepath.Join(work, "p001.png"),
		"--top", "1", "-q")
	wantParts(t, predicted, "p000.png: red", "p001.png: green")
	must(t, "eval", dir)
	wantParts(t, succeeds(t, "export", dir, "--output", filepath.Join(work, "head.onnx")).err,
		"only the head: it takes 8 features, pool5 of "+weights)
	// The features of the run are there: weights that are gone are not asked for, but by their digest.
	first := readBytes(t, filepath.Join(dir, "result.json"))
	must(t, goOn(dir, "-q")...)
	if !bytes.Equal(first, readBytes(t, filepath.Join(dir, "result.json"))) || !slices.Equal(before, parts()) {
		t.Error("a complete run was run again")
	}
	wantUsage(t, call(t, backboneRun(manifest, weights, dir, "--arm", "baseline")...), "holds another run")

	// Another seed in the same folder, once the run is gone, has the features.
	entries, err := os.ReadDir(dir)
	expect.OK(t, err)
	for _, e := range entries {
		if e.Name() != run.FeaturesFolder {
			expect.OK(t, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	c := succeeds(t, slices.DeleteFunc(backboneRun(manifest, weights, dir, "--seed", "2", "-v"), func(s string) bool {
		return s == "-q"
	})...)
	wantParts(t, c.err, "the folder has features of 90 pictures; 0 are left")

	tinyVGG(t, weights, 2)
	wantUsage(t, call(t, "predict", dir, filepath.Join(work, "p000.png"), "-q"), "has changed")
	expect.OK(t, os.Remove(weights))
	wantUsage(t, call(t, "predict", dir, filepath.Join(work, "p000.png"), "-q"), "vgg.safetensors", "no such file")
}

func TestTrain_BackboneCountsPicturesThatCannotBeRead(t *testing.T) {
	skipShort(t, "trains several runs")
	t.Parallel()
	work := t.TempDir()
	weights := filepath.Join(work, "vgg.safetensors")
	tinyVGG(t, weights, 1)
	manifest := colouredPictures(t, work, 40)
	writeFiles(t, work, []byte("no picture"), "p007.png")
	dir := filepath.Join(work, "run")
	c := call(t, backboneRun(manifest, weights, dir)...)
	wantFailure(t, c, "p007.png", "--max-bad-samples")
	// By now the features of all other pictures are there: only this picture has none.
	args := backboneRun(manifest, weights, dir, "--max-bad-samples", "1")
	if c := interruptAfter(t, dir, args...); strings.Count(c.err, "1 of 24 training pictures cannot be used") != 1 {
		t.Fatal(c.err)
	}
	must(t, goOn(dir, "-q")...)
	must(t, "eval", dir)
	must(t, "eval", dir, "--split", "train")
	must(t, "audit", dir, "-q")

	for i := range 40 {
		writeFiles(t, work, []byte("no picture"), fmt.Sprintf("p%03d.png", i))
	}
	c = call(t, backboneRun(manifest, weights, filepath.Join(work, "none"), "--max-bad-samples", "40")...)
	wantFailure(t, c, "none of the 24 pictures")
}

func TestTrain_BackboneDryRunTakesFewFeatures(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	weights, dir := filepath.Join(work, "vgg.safetensors"), filepath.Join(work, "run")
	tinyVGG(t, weights, 1)
	out := must(t, backboneRun(colouredPictures(t, work, 60), weights, dir, "--dry-run")...)
	wantParts(t, out, "to compute them for all pictures, once")
	if _, err := os.Stat(dir); err == nil {
		t.Error("a dry run has written")
	}
	if c := call(t, "doctor", filepath.Join(work, "list.csv"), "--backbone", weights, "--input-size", "32", "--threads",
		"1"); strings.Contains(c.out, "does not begin") || c.code != exitOK {
		t.Errorf("the doctor says %d: %s%s", c.code, c.out, c.err)
	}
}

func TestExperiment_TakesFeaturesOnce(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	weights, dir := filepath.Join(work, "vgg.safetensors"), filepath.Join(work, "grid")
	tinyVGG(t, weights, 1)
	args := []string{"experiment", colouredPictures(t, work, 60), "--backbone", weights, "--set", "net.input_size=32",
		"--run-dir", dir, "--arms", "stage1,nmn-fi", "--flips", "0.2:0.1", "--seeds", "1,2", "--set", "net.hidden=[]",
		"--set", "train.stage1_epochs=2", "--set", "train.stage2_epochs=1", "--threads", "1", "-q"}
	must(t, args...)
	found, _ := filepath.Glob(filepath.Join(dir, run.FeaturesFolder, "*"))
	all := 0
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == run.FeaturesFolder {
			all++
		}
		return err
	})
	if len(found) != 1 || all != 1 {
		t.Errorf("%d kinds of features in %d folders, want one", len(found), all)
	}
	args[slices.Index(args, dir)] = filepath.Join(work, "other")
	wantUsage(t, call(t, append(args, "--mil", "both")...), "these data are no clips")
}

func TestTrain_BackboneRefusals(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	weights := filepath.Join(work, "vgg.safetensors")
	tinyVGG(t, weights, 1)
	manifest, dir := colouredPictures(t, work, 12), filepath.Join(work, "run")
	for want, more := range map[string][]string{
		"of pictures as they are": {"--augment", "light"},
		"leave out train.flip":    {"--set", "train.flip=true"},
		"these data are no clips": {"--mil"},
		"it has pool5":            {"--set", "net.backbone_layer=embedding"},
		"--init":                  {"--init", weights},
		"--net":                   {"--net", "vgg16"},
		"data.fit":                {"--set", "data.fit=square"},
	} {
		wantUsage(t, call(t, backboneRun(manifest, weights, dir, more...)...), want)
	}
	wantUsage(t, call(t, "train", manifest, "--set", "net.backbone_layer=cls", "--run-dir", dir), "--backbone FILE")
	wantUsage(t, call(t, "train", "--preset", "scenes", "--backbone", weights, "--run-dir", dir),
		"a preset of another net")
}

// The model stores the form of a transformer, and features of one form differ from features of another.
func TestTrain_BehindATransformerWithAnotherGELU(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	weights, dir := filepath.Join(work, "vit.safetensors"), filepath.Join(work, "run")
	writeTensors(t, weights, randomTensors(tinyTransformer()))
	manifest := colouredPictures(t, work, 24)
	args := []string{"train", manifest, "--backbone", weights, "--input-size", "28", "--run-dir", dir, "--set",
		"net.hidden=[]",
		"--set", "recipe.form=paper", "--arm", "stage1", "--set", "train.stage1_epochs=1", "--threads", "1", "-q"}
	extract := func(file string, more ...string) []byte {
		must(t, append([]string{"extract", "--weights", weights, filepath.Join(work, "p000.png"), "--input-size", "28",
			"--output", file, "-q"}, more...)...)
		return readBytes(t, file)
	}
	said := []string{"--gelu", "quick", "--heads", "4", "--input-mean", "0.5,0.5,0.5", "--input-resize", "28"}
	settings := []string{"--set", "net.backbone_gelu=quick", "--set", "net.backbone_heads=4", "--set",
		"net.backbone_mean=[0.5, 0.5, 0.5]", "--set", "net.backbone_resize=28"}
	if bytes.Equal(extract(filepath.Join(work, "a.npy")), extract(filepath.Join(work, "b.npy"), said...)) {
		t.Error("what is said of the net changes no feature")
	}
	must(t, append(args, settings...)...)
	must(t, "predict", dir, filepath.Join(work, "p000.png"), "-q")
	must(t, "eval", dir)
	if b := checkpointOf(t, dir).Backbone; b.GELU != "quick" || b.Heads != 4 || b.Pictures.Resize != 28 || b.Pictures.Mean[0] != .5 {
		t.Errorf("the model knows %+v", b)
	}
	kinds := func() int {
		found, _ := filepath.Glob(filepath.Join(dir, run.FeaturesFolder, "*"))
		return len(found)
	}
	expect.OK(t, os.Remove(filepath.Join(dir, run.ConfigFile)))
	if n := kinds(); n != 1 {
		t.Errorf("%d kinds of features", n)
	}
	expect.OK(t, os.Remove(filepath.Join(dir, train.LastName)))
	call(t, args...)
	if n := kinds(); n != 2 {
		t.Errorf("%d kinds of features, want another for another net", n)
	}
}

// On the CPU, bf16 is for features of transformers: by nmn extract, by a training on them and by its model. A net of
// convolutions is refused, and so is a processor without the instructions.
func TestBackbone_InBF16OnTheCPU(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	manifest := colouredPictures(t, folder, 30)
	weights := filepath.Join(transformers, "hf_clip.safetensors")
	extract := func(name string, more ...string) []string {
		return append([]string{"extract", "--weights", weights, "--heads", "3", "--device", "cpu", "--output",
			filepath.Join(dir, name+".npy")}, more...)
	}
	levels := simd.Levels()
	if missing := levels[len(levels)-1].BFloat16(); missing != nil {
		c := call(t, extract("half", folder, "--precision", "bf16")...)
		wantUsage(t, c, "AVX512_BF16")
		conform.Skip(t, "bf16", missing.Error())
	}
	must(t, extract("full", folder, "--precision", "fp32")...)
	must(t, extract("half", folder, "--precision", "bf16")...)
	must(t, extract("split", "--precision", "bf16", "--set", "data.manifest="+manifest, "--set",
		"data.validation_share=0", "--set", "data.test_share=0")...)
	full, _ := readRows(t, filepath.Join(dir, "full.npy"), "")
	half, _ := readRows(t, filepath.Join(dir, "half.npy"), "")
	split, _ := readRows(t, filepath.Join(dir, "split.npy"), "")
	worst := 0.
	for i, row := range full {
		for j, v := range row {
			if half[i][j] != split[i][j] {
				t.Fatalf("picture %d has other features in a split", i)
			}
			worst = max(worst, math.Abs(float64(v-half[i][j])/float64(max(v, -v, 1))))
		}
	}
	if !(worst > 1e-6 && worst < .02) {
		t.Errorf("features differ by %.2g", worst)
	}
	must(t, extract("auto", folder)...)
	if auto, _ := readRows(t, filepath.Join(dir, "auto.npy"), ""); auto[0][0] != full[0][0] {
		t.Error("auto does not give the features of fp32")
	}

	model := filepath.Join(dir, "run")
	must(t, "train", manifest, "--backbone", weights, "--run-dir", model, "--set", "net.backbone_heads=3",
		"--set", "net.hidden=[]", "--set", "train.stage1_epochs=2", "--device", "cpu", "--precision", "bf16", "-q")
	if c, err := run.ReadConfig(model); err != nil || c.Run.Precision != "bf16" {
		t.Errorf("the run notes precision %s, %v", c.Run.Precision, err)
	}
	must(t, "eval", model, "-q")
	predict := []string{"predict", model, folder, "--device", "cpu", "--precision"}
	if must(t, append(predict, "bf16")...) == "" || must(t, append(predict, "fp32")...) == "" {
		t.Error("nothing predicted")
	}

	vgg := filepath.Join(dir, "vgg.safetensors")
	tinyVGG(t, vgg, 1)
	c := call(t, "extract", "--weights", vgg, folder, "--output", filepath.Join(dir, "x.npy"), "--device", "cpu",
		"--precision", "bf16")
	wantUsage(t, c, "the CPU computes convolutions in fp32")
	wantParts(t, c.err, "VGG16")
}
