// Command library builds the host emulator with all kernels, for programs that are to run on it:
//
//	go run ./tools/emulator/library build/emulator
//
// prints the path of the library, which NMN_LIBCUDA, NMN_LIBCUDNN, NMN_LIBCUBLASLT and
// NMN_LIBNCCL name to a build with CUDA.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"nmn/tools/emulator"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: library FOLDER")
	}
	sources, err := filepath.Glob("kernels/*/*.cu")
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("no CUDA sources in kernels: start it in the root of the repository")
	}
	folder, err := filepath.Abs(arguments[0])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	library, err := emulator.Build(folder, sources...)
	if err == nil {
		fmt.Println(library)
	}
	return err
}
