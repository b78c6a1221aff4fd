//go:build cuda

package cuda

import (
	"debug/elf"
	"os"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// A program with this package starts on hosts without a driver: it must not need one to be loaded.
func TestProgram_NeedsNothingButTheCLibrary(t *testing.T) {
	path, err := os.Executable()
	expect.OK(t, err)
	program, err := elf.Open(path)
	expect.OK(t, err)
	defer program.Close()
	needed, err := program.ImportedLibraries()
	expect.OK(t, err)
	for _, name := range needed {
		library, _, _ := strings.Cut(name, ".so")
		switch library {
		case "libc", "libdl", "libpthread", "libresolv", "ld-linux-x86-64", "ld-linux-aarch64":
		default:
			t.Errorf("the program needs %s", name)
		}
	}
	symbols, err := program.DynamicSymbols()
	expect.OK(t, err)
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "cu") && s.Section != elf.SHN_UNDEF {
			t.Errorf("the program exports %s, to which libraries that are opened later could bind", s.Name)
		}
	}
}
