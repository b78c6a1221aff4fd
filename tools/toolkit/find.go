package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The versions that the shadow headers and the pinned wheels are made for.
const (
	wantCUDA  = 13
	wantCUDNN = 9
)

// part is an installed CUDA toolkit or cuDNN.
type part struct {
	home    string // holds include, lib or bin
	include string // holds cuda.h or cudnn.h
	version string
}

// kit holds the parts that a build needs.
type kit struct{ cuda, cudnn part }

func (k kit) String() string {
	return fmt.Sprintf("CUDA %s in %s\ncuDNN %s in %s", k.cuda.version, k.cuda.home, k.cudnn.version, k.cudnn.home)
}

// find looks for a CUDA 13 toolkit and cuDNN 9: first in CUDA_HOME (or CUDA_PATH) and CUDNN_HOME, then in
// build/cuda-toolkit, then in the usual places below root. An unfit folder in the environment is an error:
// nothing else may replace it.
func find(build string, getenv func(string) string, root string) (kit, error) {
	named := cmp.Or(getenv("CUDA_HOME"), getenv("CUDA_PATH"))
	cuda, err := search("a CUDA 13 toolkit", "CUDA_HOME", named, cudaPlaces(build, root), readCUDA)
	if err != nil {
		return kit{}, err
	}
	// cuDNN may have been unpacked into the toolkit.
	places := append([]string{filepath.Join(build, "cuda-toolkit/nvidia/cudnn"), cuda.home}, cudnnPlaces(root)...)
	cudnn, err := search("cuDNN 9", "CUDNN_HOME", getenv("CUDNN_HOME"), places, readCUDNN)
	return kit{cuda, cudnn}, err
}

func cudaPlaces(build, root string) []string {
	places := []string{
		filepath.Join(build, "cuda-toolkit/nvidia/cu13"),
		filepath.Join(root, "usr/local/cuda"), filepath.Join(root, "usr/local/cuda-13"),
	}
	numbered, _ := filepath.Glob(filepath.Join(root, "usr/local/cuda-13.*")) // the pattern is well-formed
	return append(append(places, numbered...), filepath.Join(root, "opt/cuda"), filepath.Join(root, "usr"))
}

func cudnnPlaces(root string) []string {
	return []string{
		filepath.Join(root, "usr/local/cuda"), filepath.Join(root, "usr/local/cudnn"),
		filepath.Join(root, "opt/cuda"), filepath.Join(root, "opt/cudnn"), filepath.Join(root, "usr"),
	}
}

// search returns the first fit place. read returns os.ErrNotExist for an empty place.
func search(what, variable, named string, places []string, read func(home string) (part, error)) (part, error) {
	if named != "" {
		p, err := read(named)
		if err != nil {
			return part{}, fmt.Errorf("%s is %s, which holds no %s: %w", variable, named, strings.TrimPrefix(what, "a "), err)
		}
		return p, nil
	}
	var unfit []error
	for _, place := range places {
		p, err := read(place)
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			unfit = append(unfit, err)
		}
	}
	err := fmt.Errorf("cannot find %s in %s: set %s, or install the pinned one with: make cuda-toolkit",
		what, strings.Join(places, ", "), variable)
	return part{}, errors.Join(append([]error{err}, unfit...)...)
}

var cudaVersion = regexp.MustCompile(`(?m)^#define CUDA_VERSION (\d+)`)

func readCUDA(home string) (part, error) {
	header, include, err := readHeader(home, "cuda.h")
	if err != nil {
		return part{}, err
	}
	m := cudaVersion.FindSubmatch(header)
	if m == nil {
		return part{}, fmt.Errorf("%s: cuda.h defines no CUDA_VERSION", include)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil || n/1000 != wantCUDA {
		return part{}, fmt.Errorf("%s: cuda.h belongs to CUDA %d.%d, want %d", include, n/1000, n%1000/10, wantCUDA)
	}
	return part{home, include, fmt.Sprintf("%d.%d", n/1000, n%1000/10)}, nil
}

var cudnnVersion = regexp.MustCompile(`(?m)^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) (\d+)`)

func readCUDNN(home string) (part, error) {
	header, include, err := readHeader(home, "cudnn_version.h")
	if err != nil {
		return part{}, err
	}
	numbers := map[string]string{}
	for _, m := range cudnnVersion.FindAllSubmatch(header, -1) {
		numbers[string(m[1])] = string(m[2])
	}
	version := fmt.Sprintf("%s.%s.%s", numbers["MAJOR"], numbers["MINOR"], numbers["PATCHLEVEL"])
	if numbers["MAJOR"] != strconv.Itoa(wantCUDNN) {
		return part{}, fmt.Errorf("%s: cudnn_version.h belongs to cuDNN %s, want %d", include, version, wantCUDNN)
	}
	return part{home, include, version}, nil
}

// readHeader reads a header of a folder. Distributions add one for the processor.
func readHeader(home, name string) (header []byte, include string, err error) {
	for _, folder := range []string{"include", "include/x86_64-linux-gnu", "include/aarch64-linux-gnu"} {
		include = filepath.Join(home, folder)
		if header, err = os.ReadFile(filepath.Join(include, name)); err == nil {
			return header, include, nil
		}
	}
	return nil, "", err
}
