// Toolkit prepares builds with CUDA. It needs Go, a C compiler and, for install, Python's pip.
//
//	go run ./tools/toolkit install          installs the pinned CUDA 13 and cuDNN 9 into build/cuda-toolkit
//	go run ./tools/toolkit install-later    installs a later cuDNN there, for tests of plans
//	go run ./tools/toolkit find             prints the toolkit and the cuDNN that a build would use
//	go run ./tools/toolkit exec CMD ARG...  runs a command with the environment of a CUDA build
//
// exec sets CGO_ENABLED, CGO_CFLAGS and CGO_LDFLAGS such that gorgonia.org/cu and its cuDNN package compile
// unmodified and that the program opens libcuda and libcudnn when it runs. CUDA_HOME and CUDNN_HOME name the
// places found, and nvcc is on the PATH.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const usage = "usage: toolkit install | install-later | find | exec COMMAND [ARGUMENT...]"

func main() {
	err := run(os.Args[1:])
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed): // the command has printed the reason
		os.Exit(failed.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "toolkit:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	build, err := buildFolder()
	if err != nil {
		return err
	}
	switch verb, rest := args[0], args[1:]; {
	case verb == "install" && len(rest) == 0:
		return install(filepath.Join(build, "cuda-toolkit"), requirements, "1.7 GB")
	case verb == "install-later" && len(rest) == 0:
		return installLater(filepath.Join(build, "cuda-toolkit"))
	case verb == "find" && len(rest) == 0:
		kit, err := find(build, os.Getenv, "/")
		if err != nil {
			return err
		}
		fmt.Println(kit)
		return nil
	case verb == "exec" && len(rest) > 0:
		return execute(build, rest)
	}
	return errors.New(usage)
}

// execute runs a command with the environment of a CUDA build.
func execute(build string, command []string) error {
	kit, err := find(build, os.Getenv, "/")
	if err != nil {
		return err
	}
	flags, err := prepare(kit, filepath.Join(build, "cuda"))
	if err != nil {
		return err
	}
	environment := map[string]string{
		"CGO_ENABLED": "1",
		"CGO_CFLAGS":  flags.compile,
		"CGO_LDFLAGS": flags.link,
		"CUDA_HOME":   kit.cuda.home,
		"CUDNN_HOME":  kit.cudnn.home,
		"PATH":        filepath.Join(kit.cuda.home, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	for name, value := range environment {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}

// buildFolder is the folder build next to go.mod, which git ignores.
func buildFolder() (string, error) {
	module, err := goEnv("GOMOD")
	if err != nil {
		return "", err
	}
	if module == "" || module == os.DevNull {
		return "", errors.New("run this inside the module")
	}
	return filepath.Join(filepath.Dir(module), "build"), nil
}
