package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/export"
	"nmn/train"
)

// waves is a picture with detail of all sizes.
func waves(seed uint64, width, height int) *image.NRGBA {
	img, stream := image.NewNRGBA(image.Rect(0, 0, width, height)), rng.New(seed)
	var phase [6]float64
	for i := range phase {
		phase[i] = .02 + float64(stream.Intn(1000))/1500
	}
	for y := range height {
		for x := range width {
			at := func(a, b float64) uint8 {
				return uint8(128 + 70*math.Sin(a*float64(x)+b*float64(y)) + float64(stream.Intn(50)))
			}
			img.SetNRGBA(x, y, color.NRGBA{at(phase[0], phase[1]), at(phase[2], phase[3]), at(phase[4], phase[5]), 255})
		}
	}
	return img
}

// photographs writes JPEG and PNG pictures of several sizes, one of them stored on its side, and returns their names.
func photographs(t *testing.T, folder string) (names []string) {
	t.Helper()
	for i, size := range [][2]int{{640, 480}, {333, 500}, {57, 40}, {900, 200}, {96, 96}} {
		var j, p bytes.Buffer
		img := waves(uint64(i), size[0], size[1])
		expect.OK(t, jpeg.Encode(&j, img, &jpeg.Options{Quality: 90}))
		expect.OK(t, png.Encode(&p, img))
		data := j.Bytes()
		if i == 1 { // orientation 6
			data = append([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01"+
				"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"), data[2:]...)
		}
		writeFiles(t, folder, data, fmt.Sprintf("%d.jpg", i))
		writeFiles(t, folder, p.Bytes(), fmt.Sprintf("%d.png", i))
		names = append(names, fmt.Sprintf("%d.jpg", i), fmt.Sprintf("%d.png", i))
	}
	return names
}

// pictureModel writes a checkpoint of a net whose probabilities depend much on the picture.
func pictureModel(t *testing.T, file string, pictures *train.Pictures) {
	t.Helper()
	c := model.Scenes(5, false).Narrow(.5)
	c.Size = 96
	net := newTestNet(t, c, 3)
	unsettle(t, net, -.5)
	about := train.Checkpoint{Format: train.CheckpointFormat, Model: net.Config(), Stage: 1,
		Position: train.Position{Epoch: 1}, Pictures: pictures}
	for i := range c.Classes {
		about.Words = append(about.Words, train.ClassWord{Text: fmt.Sprint("word", i), POS: "NN"})
	}
	text, err := json.Marshal(about)
	expect.OK(t, err)
	to, err := os.Create(file)
	expect.OK(t, err)
	if _, err := export.Safetensors(to, net, false, map[string]string{"nmn.checkpoint": string(text)}); err != nil {
		t.Fatal(err)
	}
	expect.OK(t, to.Close())
}

// predictedHere are the probabilities of nmn predict, by the name of the picture.
func predictedHere(t *testing.T, file, folder string) map[string][]float64 {
	t.Helper()
	values := map[string][]float64{}
	for _, row := range readCSV(t, must(t, "predict", file, folder, "--format", "csv"))[1:] {
		for _, cell := range row[1:] {
			v, err := strconv.ParseFloat(cell, 64)
			expect.OK(t, err)
			values[row[0]] = append(values[row[0]], v)
		}
	}
	return values
}

// snippet is the block of Python in docs/guide/weights.md that defines a function.
func snippet(t *testing.T, function string) string {
	t.Helper()
	page := readBytes(t, filepath.Join("..", "..", "docs", "guide", "weights.md"))
	for _, block := range strings.Split(string(page), "```python\n")[1:] {
		if code, _, _ := strings.Cut(block, "```"); strings.Contains(code, "def "+function+"(") {
			return code
		}
	}
	t.Fatalf("docs/guide/weights.md defines no %s", function)
	return ""
}

// The blocks of docs/guide/weights.md give what nmn predict does, from the pictures' files on.
func TestPredict_PythonOfTheDocsGivesTheSame(t *testing.T) {
	python := os.Getenv("NMN_PYTHON")
	if python == "" {
		t.Skip("5 checks left out: NMN_PYTHON names no Python with onnxruntime, pillow")
	}
	if output, err := exec.CommandContext(t.Context(), python, "-c",
		"import onnxruntime, PIL").CombinedOutput(); err != nil {
		t.Skipf("5 checks left out: %s: %v, %s", python, err, output)
	}
	pictures := t.TempDir()
	names := photographs(t, pictures)
	code := func(function string) string {
		return snippet(t, function) + "\nimport json, sys\n" +
			"print(json.dumps({name: " + function + "(sys.argv[1] + '/' + name).tolist() for name in sys.argv[2:]}))\n"
	}
	var before map[string][]float64
	for i, p := range []train.Pictures{
		{Fit: picture.FitSquare, Resize: picture.FilterAntialias, Orientation: picture.OrientationApply},
		{Fit: picture.FitLongest, Resize: picture.FilterAntialias, Orientation: picture.OrientationIgnore},
		{Fit: picture.FitSquare, Resize: picture.FilterBilinear, Orientation: picture.OrientationApply},
		{Fit: picture.FitLongest, Resize: picture.FilterBilinear, Orientation: picture.OrientationIgnore},
		{Fit: picture.FitSquare, Resize: picture.FilterAntialias, Orientation: picture.OrientationApply},
	} {
		function := "probabilities"
		if i == 4 {
			function = "predict" // the short form, of the default alone
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "model.safetensors")
		pictureModel(t, file, &p)
		must(t, "export", file, "--output", filepath.Join(dir, "words.onnx"))
		want := predictedHere(t, file, pictures)
		cmd := exec.CommandContext(t.Context(), python, append([]string{"-c", code(function), pictures}, names...)...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		var got map[string][]float64
		if err := json.Unmarshal(output, &got); err != nil || len(got) != len(names) || len(want) != len(names) {
			t.Fatalf("%v: %d and %d pictures, want %d", err, len(got), len(want), len(names))
		}
		worst := farthest(got, want)
		t.Logf("%s, %+v: largest difference %.2g", function, p, worst)
		if !(worst < 1e-4) {
			t.Errorf("%+v: probabilities differ by %g", p, worst)
		}
		if before != nil && !(farthest(want, before) > 1e-3) {
			t.Errorf("%+v: probabilities are those of another way to read pictures", p)
		}
		before = want
	}
}

// farthest is the largest difference between probabilities.
func farthest(a, b map[string][]float64) (worst float64) {
	for name, values := range a {
		for i, v := range values {
			worst = max(worst, math.Abs(v-b[name][i]))
		}
	}
	return worst
}

// A checkpoint of before pictures were described means what all pictures were read with then.
func TestPredict_OldCheckpointsReadPicturesAsBefore(t *testing.T) {
	t.Parallel()
	pictures, dir := t.TempDir(), t.TempDir()
	photographs(t, pictures)
	old, same, other := filepath.Join(dir, "old.safetensors"), filepath.Join(dir, "same.safetensors"),
		filepath.Join(dir, "other.safetensors")
	pictureModel(t, old, nil)
	pictureModel(t, same, &train.Pictures{Fit: picture.FitSquare, Resize: picture.FilterBilinear,
		Orientation: picture.OrientationIgnore})
	pictureModel(t, other, &train.Pictures{Fit: picture.FitSquare, Resize: picture.FilterBilinear,
		Orientation: picture.OrientationApply})
	want := predictedHere(t, old, pictures)
	if off := farthest(predictedHere(t, same, pictures), want); off != 0 {
		t.Errorf("an old checkpoint reads pictures otherwise than as they are stored, without smoothing: by %g", off)
	}
	if off := farthest(predictedHere(t, other, pictures), want); off == 0 {
		t.Error("the orientation changes nothing")
	}
}

// Models and graphs pass on how pictures are read, from training to predictions and exported files.
func TestTrain_ModelsSayHowTheyReadPictures(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	folder := t.TempDir()
	list := "path,labels\n"
	for i, name := range photographs(t, folder) {
		list += fmt.Sprintf("%s,%s\n", name, []string{"dog", "cat"}[i%2])
	}
	writeFiles(t, folder, []byte(list), "list.csv")
	train := func(flags ...string) *train.Pictures {
		dir := filepath.Join(t.TempDir(), "run")
		must(t, append([]string{"train", filepath.Join(folder, "list.csv"), "--run-dir", dir, "--net", "scenes", "--arm",
			"stage1", "--set", "train.max_steps=1", "--set", "data.validation_share=0.2", "--set", "data.test_share=0.2"},
			flags...)...)
		return checkpointOf(t, dir).Pictures
	}
	for want, flags := range map[string][]string{
		"&{square antialias apply}":   nil,
		"&{square bilinear apply}":    {"--set", "data.resize=bilinear"},
		"&{longest antialias ignore}": {"--set", "data.orientation=ignore", "--set", "data.fit=longest"},
		"&{square bilinear ignore}":   {"--preset", "paper-coco"},
	} {
		if got := fmt.Sprint(train(flags...)); got != want {
			t.Errorf("%q: %s, want %s", flags, got, want)
		}
	}
}

func checkpointOf(t *testing.T, dir string) *train.Checkpoint {
	t.Helper()
	c, err := train.ReadCheckpoint(filepath.Join(dir, train.LastName))
	expect.OK(t, err)
	return c
}
