package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

var (
	//go:embed requirements.txt
	requirements []byte
	//go:embed cudnn-9.19.txt
	later []byte
)

// installLater puts the later cuDNN into the toolkit's folder. It finds the toolkit's compiler by a link,
// as in an installation of both in one folder.
func installLater(toolkit string) error {
	folder := filepath.Join(toolkit, "cudnn-9.19")
	if err := install(folder, later, "500 MB"); err != nil {
		return err
	}
	link := filepath.Join(folder, "nvidia/cu13")
	if err := os.Symlink("../../nvidia/cu13", link); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// install puts the wheels of a list into a folder by Python's pip, which checks their digests. A folder
// that holds them already is left as it is.
func install(folder string, requirements []byte, size string) error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("the pinned wheels are for linux/amd64, this is %s/%s: install CUDA 13 and cuDNN 9 and set "+
			"CUDA_HOME and CUDNN_HOME",
			runtime.GOOS, runtime.GOARCH)
	}
	stamp := filepath.Join(folder, "requirements.txt")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == string(requirements) {
		fmt.Println(folder, "is up to date")
		return nil
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("installing the wheels needs python3 with pip, or install CUDA 13 and cuDNN 9 yourself and set "+
			"CUDA_HOME and CUDNN_HOME: %w", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	// The list is written under another name first. Its final name means that all is installed.
	list := filepath.Join(folder, "wanted.txt")
	if err := os.WriteFile(list, requirements, 0o666); err != nil {
		return err
	}
	fmt.Println("installing", size, "into", folder)
	pip := exec.Command(python, "-m", "pip", "install", "--quiet", "--root-user-action=ignore",
		"--disable-pip-version-check", "--no-deps",
		"--no-compile", "--only-binary=:all:", "--require-hashes", "--target", folder, "--requirement", list)
	pip.Stdout, pip.Stderr = os.Stdout, os.Stderr
	if err := pip.Run(); err != nil {
		return fmt.Errorf("cannot install the wheels of %s: %w", list, err)
	}
	return os.Rename(list, stamp)
}
