package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/model"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// narrowVGG is VGG16 with an eighth of its channels, on pictures of 64 pixels.
func narrowVGG(classes int) model.Config {
	c := model.VGG16(classes, false).Narrow(.125)
	c.Size, c.FC6Kernel = 64, 2
	return c
}

func newTestNet(t *testing.T, c model.Config, seed uint64) *model.Net {
	t.Helper()
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1})
	expect.OK(t, err)
	net, err := model.New(c, backend)
	if err == nil {
		err = net.Init(model.PaperInit(seed))
	}
	expect.OK(t, err)
	t.Cleanup(func() { _ = cmp.Or(net.Close(), backend.Close()) })
	return net
}

func testVocabulary(t *testing.T, words int) *text.Vocabulary {
	t.Helper()
	list := make([]text.Word, words)
	for i := range list {
		list[i] = text.Word{Text: fmt.Sprintf("word%d", i)}
	}
	v, err := text.NewVocabulary(list)
	expect.OK(t, err)
	return v
}

// inFile are the values of a parameter as files order them.
func inFile(t *testing.T, net *model.Net, p *model.Param) []float32 {
	t.Helper()
	values, err := net.Values(p)
	expect.OK(t, err)
	ordered := make([]float32, p.FileLen())
	if p.W.Rank() == 4 && p.W.Dim(3)*p.W.Dim(1)*p.W.Dim(2)*p.W.Dim(0) != p.FileLen() {
		t.Fatalf("%s is padded on the CPU", p.Name)
	}
	p.Encode(ordered, values)
	return ordered
}

// renamed writes the parameters of a net to a .safetensors file under other names and shapes; nil keeps what
// is as it is.
func renamed(t *testing.T, net *model.Net, name func(p *model.Param) (string, []int)) string {
	t.Helper()
	var tensors []safetensors.Tensor
	for _, p := range net.Params() {
		to, shape := name(p)
		tensors = append(tensors, safetensors.Tensor{Name: to, Shape: shape, Data: inFile(t, net, p)})
	}
	return tensorFile(t, tensors...)
}

func tensorFile(t *testing.T, tensors ...safetensors.Tensor) string {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, safetensors.Write(&b, nil, tensors))
	return written(t, "w.safetensors", b.Bytes())
}

// sameParams counts the parameters that two nets have in common, and checks their names.
func sameParams(t *testing.T, a, b *model.Net, want func(name string) bool) {
	t.Helper()
	for i, p := range a.Params() {
		x, err := a.Values(p)
		y, err2 := b.Values(b.Params()[i])
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if p.Bias && slices.Max(x) == slices.Min(x) {
			continue // all biases start at the same value
		}
		if got := slices.Equal(x, y); got != want(p.Name) {
			t.Errorf("%s is that of the file: %t", p.Name, got)
		}
	}
}

func TestInit_NamesOfEveryProgram(t *testing.T) {
	t.Parallel()
	source := newTestNet(t, narrowVGG(5), 1)
	timm := map[string]string{"fc6": "pre_logits.fc1", "fc7": "pre_logits.fc2", "fc8": "head.fc"}
	files := map[string]string{
		"torchvision": renamed(t, source, func(p *model.Param) (string, []int) { return p.File, p.Shape }),
		"nmn":         renamed(t, source, func(p *model.Param) (string, []int) { return p.Name, p.Shape }),
		"timm": renamed(t, source, func(p *model.Param) (string, []int) {
			layer, kind, _ := strings.Cut(strings.TrimPrefix(p.Name, "head."), ".")
			name, isHead := timm[layer]
			shape := p.Shape
			switch {
			case !isHead:
				return p.File, shape
			case kind == "weight" && layer != "fc8": // as convolutions
				w := p.W.Shape()
				shape = []int{w[0], w[3], w[1], w[2]}
			}
			return name + "." + kind, shape
		}),
	}
	for from, file := range files {
		t.Run(from, func(t *testing.T) {
			for _, classifier := range []bool{false, true} {
				net := newTestNet(t, narrowVGG(5), 2)
				var messages bytes.Buffer
				weights := &run.WeightLoader{Log: slog.New(slog.DiscardHandler),
					Notify: func(m run.Message) { messages.WriteString(m.Text) }}
				n := &run.NetConfig{Arch: run.NetVGG16, Weights: file, WeightsClassifier: classifier}
				expect.OK(t, weights.Load(net, n, testVocabulary(t, 5)))
				sameParams(t, source, net, func(name string) bool {
					return classifier || !strings.HasPrefix(name, "head.fc8")
				})
				table := messages.String()
				wantParts(t, table, "conv1_1", "8×3×3×3", "fc6", "conv5_3")
				if as := strings.Contains(table, "512×256        F32   as 512×64×2×2"); as == (from == "timm") {
					t.Errorf("fc6 is a matrix in the files but timm's:\n%s", table)
				}
				if told := strings.Contains(table, "starts at random"); told == classifier {
					t.Errorf("with --init-classifier=%t the table says\n%s", classifier, table)
				}
			}
		})
	}
}

func TestInit_WhatDoesNotFitIsRefusedWithBothShapes(t *testing.T) {
	t.Parallel()
	source := newTestNet(t, narrowVGG(5), 1)
	file := renamed(t, source, func(p *model.Param) (string, []int) { return p.File, p.Shape })
	weights := &run.WeightLoader{Log: slog.New(slog.DiscardHandler), Notify: func(run.Message) {}}
	load := func(change func(*model.Config), n run.NetConfig) error {
		c := narrowVGG(5)
		change(&c)
		n.Weights = file
		return weights.Load(newTestNet(t, c, 2), &n, testVocabulary(t, c.Classes))
	}
	err := load(func(c *model.Config) { c.FC6Kernel = 1 }, run.NetConfig{})
	if !errors.Is(err, model.ErrOtherModel) ||
		!strings.Contains(err.Error(), "classifier.0.weight is [512 256] in the file and [512 64]") ||
		!strings.Contains(err.Error(), file) {
		t.Errorf("another fc6: %v", err)
	}
	if err := load(func(c *model.Config) { c.Classes = 6 }, run.NetConfig{WeightsClassifier: true}); !errors.Is(err,
		model.ErrOtherModel) || !strings.Contains(err.Error(), "classifier.6") {
		t.Errorf("--init-classifier with other classes: %v", err)
	}
	if err := load(func(c *model.Config) { c.Classes = 6 }, run.NetConfig{}); err != nil {
		t.Errorf("other classes without it: %v", err)
	}
}

func TestInit_ByTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "baseline")
	last := filepath.Join(dir, "stage1", "last.safetensors")
	c := succeeds(t, tiny("train", "--arm", "stage1", "--init", last, "--run-dir", t.TempDir())...)
	wantParts(t, c.err, "weights "+last+": safetensors")
	if strings.Contains(c.err, "starts at random") {
		t.Error(c.err)
	}
	if c := call(t, tiny("train", "--arm", "stage1", "--init", last,
		"--quiet", "--run-dir", t.TempDir())...); c.code != exitOK || strings.Contains(c.err, "weights") {
		t.Errorf("--quiet: exit code %d, %s", c.code, c.err)
	}
	wantUsage(t, call(t, tiny("train", "--set", "net.weights_classifier=true")...), "--init FILE")
	c = call(t, tiny("train", "--arm", "stage1", "--init", written(t, "w.pth", []byte("\x80\x02cposix\nsystem\n.")),
		"--run-dir", t.TempDir())...)
	wantFailure(t, c, `"posix.system"`, "byte 2")
}

// A run that goes on has its weights from its checkpoint: the file that it started from may be gone.
func TestInit_ResumeNeedsNoFile(t *testing.T) {
	skipShort(t, "interrupts runs and trains them again")
	t.Parallel()
	start := written(t, "start.safetensors", readBytes(t, filepath.Join(trainedArm(t, "baseline"), "stage1"),
		"last.safetensors"))
	dir := filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "baseline", "--init", start, "--set", "train.max_steps=1", "--run-dir", dir)...)
	expect.OK(t, os.Remove(start))
	must(t, goOn(dir, "--set", "train.max_steps=2")...)
	// Stage 1 has begun, and its evaluation is not there: it goes on too.
	expect.OK(t, os.Remove(filepath.Join(dir, run.Stage1Folder, run.ResultFile)))
	must(t, goOn(filepath.Join(dir, run.Stage1Folder))...)
}

// A file that a run would refuse is refused by its plan.
func TestInit_DryRunLooksAtTheFile(t *testing.T) {
	t.Parallel()
	whole := readBytes(t, filepath.Join(trainedArm(t, "baseline"), "stage1"), "last.safetensors")
	plan := func(content []byte) called {
		return call(t, tiny("train", "--arm", "baseline", "--init", written(t, "start.safetensors", content),
			"--run-dir", t.TempDir(), "--dry-run")...)
	}
	if c := plan(whole); c.code != exitOK || strings.Count(c.err, "weights ") != 1 ||
		!strings.Contains(c.out, "baseline ") {
		t.Errorf("exit code %d, %s%s", c.code, c.err, c.out)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/10] ^= 4
	for name, content := range map[string][]byte{"cut short": whole[:len(whole)/2], "a flipped bit": damaged} {
		if c := plan(content); c.code != exitFailure || !strings.Contains(c.err, "start.safetensors") ||
			strings.Contains(c.out, "in all") {
			t.Errorf("%s: exit code %d, %s%s", name, c.code, c.err, c.out)
		}
	}
}

// A mistake in the name of a file costs neither time nor the folder: nothing was learned there.
func TestInit_AFirstTypoCostsNothing(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	dir, broken := filepath.Join(work, "run"), filepath.Join(work, "broken.pth")
	writeFiles(t, work, []byte("no weights"), "broken.pth")
	args := func(more ...string) []string {
		return tiny("train", append([]string{"--arm", "baseline", "--run-dir", dir}, more...)...)
	}
	for file, code := range map[string]int{filepath.Join(work, "none.pth"): exitUsage, broken: exitFailure} {
		c := call(t, args("--init", file)...)
		if c.code != code || !strings.Contains(c.err, filepath.Base(file)) || strings.Contains(c.err, "data  ") {
			t.Errorf("exit code %d: %s; want that of the weights, before the data are opened", c.code, c.err)
		}
		if _, err := os.Stat(filepath.Join(dir, run.ConfigFile)); err == nil {
			t.Errorf("%s: the folder keeps a configuration that cannot begin", file)
		}
	}
	// The weights of another net are found to be so only when there is one to load them.
	other := filepath.Join(work, "other")
	must(t, tiny("train", "--arm", "stage1", "--set", "net.width=0.25", "--run-dir", other)...)
	c := call(t, args("--init", filepath.Join(other, train.LastName))...)
	wantFailure(t, c, "weights ")
	must(t, args()...)
	wantUsage(t, call(t, args("--seed", "7")...), "holds another run")
}
