//go:build linux && (amd64 || arm64)

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"nmn/format/safetensors"
)

// prepare builds nmn in a folder, and makes the inputs of all scenarios in dir/inputs.
func prepare(dir string) (program string, err error) {
	program = filepath.Join(dir, "nmn")
	build := exec.Command("go", "build", "-o", program, "./cmd/nmn")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/nmn: %w: %s", err, out)
	}
	inputs := filepath.Join(dir, "inputs")
	if err := errors.Join(os.Mkdir(inputs, 0o777), makeClips(filepath.Join(inputs, "clips"), 6),
		makeCrowd(filepath.Join(inputs, "crowd.csv")),
		makeBackbone(filepath.Join(inputs, "vgg.safetensors"))); err != nil {
		return "", err
	}
	for _, line := range workshop {
		cmd := exec.Command(program, strings.Fields(line)...)
		cmd.Dir = inputs
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("nmn %s: %w: %s", line, err, out)
		}
	}
	return program, nil
}

// makeClips writes clips of noise, which hardly shrink.
func makeClips(folder string, clips int) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	const size = 96 * 64 * 3 / 2 // bytes of a frame
	for i := range clips {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		b := []byte("YUV4MPEG2 W96 H64 F10:1 Ip A1:1 C420jpeg\n")
		for range 4 + i%3 {
			b = append(b, "FRAME\n"...)
			for range size {
				b = append(b, byte(random.Uint32()))
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.y4m", i)), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// makeCrowd writes labels of five annotators for 300 bags, who sometimes disagree.
func makeCrowd(path string) error {
	var b strings.Builder
	b.WriteString("picture,annotator,labels\n")
	for bag := range 300 {
		for who := range 5 {
			fmt.Fprintf(&b, "bag%d,ann%d,word%d;word%d\n", bag, who, bag%7, (bag*(who+1))%5)
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o666)
}

// makeBackbone writes random weights of VGG16 with few channels, under torchvision's names.
func makeBackbone(path string) error {
	random := rand.New(rand.NewPCG(1, 2))
	var tensors []safetensors.Tensor
	in := 3
	for i, at := range []int{0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28} {
		out := []int{4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8}[i]
		weights := make([]float32, out*in*9)
		for k := range weights {
			weights[k] = float32(random.NormFloat64() / 4)
		}
		name := fmt.Sprintf("features.%d", at)
		tensors = append(tensors, safetensors.Tensor{Name: name + ".weight", Shape: []int{out, in, 3, 3}, Data: weights},
			safetensors.Tensor{Name: name + ".bias", Shape: []int{out}, Data: make([]float32, out)})
		in = out
	}
	_, err := safetensors.WriteFile(path, nil, tensors)
	return err
}

// lay copies the inputs of a scenario into a folder that it makes.
func (s scenario) lay(inputs, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, name := range s.needs {
		// Times are kept: a run must notice data that were written later.
		out, err := exec.Command("cp", "-RPp", filepath.Join(inputs, name), filepath.Join(folder, name)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("copying %s: %w: %s", name, err, out)
		}
	}
	return nil
}
