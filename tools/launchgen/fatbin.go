package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"nmn/internal/durable"
)

// architectures are the architectures with machine code in the fatbin. For later ones it holds the PTX of the
// last, which the driver compiles.
var architectures = []string{"75", "80", "86", "89", "90"}

// The compiled kernels, and the record of their sources and compiler.
const (
	fatbinName = "kernels.fatbin"
	stampName  = "kernels.fatbin.txt"
)

// writeFatbin compiles kernels.cu by the nvcc on the PATH.
func writeFatbin(folder string) error {
	version, err := nvccVersion()
	if err != nil {
		return err
	}
	hash, err := hashSources(folder)
	if err != nil {
		return err
	}
	code, err := compile(folder)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(folder, fatbinName), code, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", fatbinName, err)
	}
	if err := durable.WriteFile(filepath.Join(folder, stampName), stamp(version, hash), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", stampName, err)
	}
	return nil
}

// stamp identifies the sources and the compiler of a fatbin.
func stamp(version, hash string) []byte {
	return fmt.Appendf(nil, "nvcc %s\nsources sha256 %s\n", version, hash)
}

// compile returns the fatbin of a folder's kernels.cu. The same sources and version of nvcc give the same
// bytes, whatever the folder.
func compile(folder string) ([]byte, error) {
	temporary, err := os.MkdirTemp("", "fatbin")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	out := filepath.Join(temporary, fatbinName)
	arguments := []string{"-std=c++17", "-O3", "-fatbin", "-Werror=all-warnings", "-Xfatbin=-compress-all",
		"--compress-mode=size", "--threads=0"}
	for _, a := range architectures {
		arguments = append(arguments, "-gencode=arch=compute_"+a+",code=sm_"+a)
	}
	last := architectures[len(architectures)-1]
	arguments = append(arguments, "-gencode=arch=compute_"+last+",code=compute_"+last, "-o", out, "kernels.cu")
	nvcc := exec.Command("nvcc", arguments...)
	nvcc.Dir = folder
	if text, err := nvcc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", nvcc, err, text)
	}
	return os.ReadFile(out)
}

var release = regexp.MustCompile(`\bV(\d+\.\d+\.\d+)\b`)

func nvccVersion() (string, error) {
	text, err := exec.Command("nvcc", "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("nvcc is needed to compile the kernels (make cuda-toolkit installs it): %w", err)
	}
	m := release.FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("nvcc --version shows no version:\n%s", text)
	}
	return string(m[1]), nil
}

// sources are the files that the kernels of a folder are compiled from, sorted.
func sources(folder string) (names []string, err error) {
	for _, pattern := range []string{"*.cu", "*.cuh", "*/*.cu", "*/*.cuh"} {
		found, err := fs.Glob(os.DirFS(folder), pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return names, nil
}

// hashSources covers every file that a kernel is compiled from.
func hashSources(folder string) (string, error) {
	names, err := sources(folder)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n", name, len(text))
		hash.Write(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
