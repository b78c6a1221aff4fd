package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// library is a shared library that the program opens when it runs.
type library struct {
	name    string         // of the archive: NAME in libNAME.a
	header  string         // declares the functions
	calls   *regexp.Regexp // their return type and name
	failure string         // result of a call that the opened library lacks
	// held are functions that do nothing but succeed. The library's own are called nmn_real_NAME.
	held map[string]bool
}

var libraries = []library{
	{
		name: "cuda", header: "cuda.h", failure: "801", // CUDA_ERROR_NOT_SUPPORTED
		calls: regexp.MustCompile(`\b(CUresult\s)\s*(cu[A-Z]\w*)\s*\(`),
		// gorgonia.org/cu calls cuInit when the program starts and exits if it fails.
		held: map[string]bool{"cuInit": true},
	},
	{
		name: "cudnn", header: "cudnn.h", failure: "3000", // CUDNN_STATUS_NOT_SUPPORTED
		calls: regexp.MustCompile(`\b(cudnnStatus_t\s|size_t\s|const char\s*\*|void\s)\s*(cudnn[A-Z]\w*)\s*\(`),
	},
}

// function is a declaration: its name and its result.
type function struct{ name, returns string }

// source writes the C file of a library's trampolines, by the declarations of its header.
func (l library) source(cc string, includes []string) ([]byte, error) {
	command := append(strings.Fields(cc), "-E", "-P", "-x", "c", "-")
	c := exec.Command(command[0], append(command[1:], includes...)...)
	c.Stdin = strings.NewReader("#include <" + l.header + ">\n")
	var complaints bytes.Buffer
	c.Stderr = &complaints
	declarations, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot preprocess %s: %w\n%s", l.header, err, complaints.Bytes())
	}
	functions := l.parse(declarations)
	if len(functions) < 100 {
		return nil, fmt.Errorf("%s declares %d functions: not the header that was expected", l.header, len(functions))
	}
	return l.trampolines(functions), nil
}

// parse lists the functions that preprocessed text declares, by name and each once.
func (l library) parse(declarations []byte) []function {
	var found []function
	for _, m := range l.calls.FindAllSubmatch(declarations, -1) {
		found = append(found, function{name: string(m[2]), returns: strings.TrimSpace(string(m[1]))})
	}
	slices.SortFunc(found, func(a, b function) int { return cmp.Compare(a.name, b.name) })
	return slices.CompactFunc(found, func(a, b function) bool { return a.name == b.name })
}

// trampolines writes the C source: for every function a jump through a slot, which holds a function that
// fails until the library has been opened, and a table of all slots for the opener. The jumps are hidden: a
// library opened later must not bind its own calls to them.
func (l library) trampolines(functions []function) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* Written by tools/toolkit from %s. */\n#include <stddef.h>\n\n", l.header)
	fmt.Fprintf(&b, "static int missing_status(void) { return %s; }\n", l.failure)
	b.WriteString("static size_t __attribute__((unused)) missing_size(void) { return 0; }\n")
	b.WriteString("static const char __attribute__((unused)) *missing_text(void) { return \"the library is not open\"; " +
		"}\n")
	b.WriteString("static void __attribute__((unused)) missing_nothing(void) {}\n\n")
	b.WriteString(jump)
	for _, f := range functions {
		symbol := f.name
		if l.held[f.name] {
			symbol = "nmn_real_" + f.name
			fmt.Fprintf(&b, "__attribute__((visibility(\"hidden\"))) int %s(void) { return 0; }\n", f.name)
		}
		fmt.Fprintf(&b, "NMN_JUMP(%s, %s, %s)\n", f.name, symbol, missing(f.returns))
	}
	fmt.Fprintf(&b, "\nconst struct { const char *name; void **slot; } nmn_%s_slots[] = {\n", l.name)
	for _, f := range functions {
		fmt.Fprintf(&b, "  {\"%s\", &nmn_slot_%s},\n", f.name, f.name)
	}
	b.WriteString("  {NULL, NULL},\n};\n")
	return b.Bytes()
}

// missing names the function that replaces one that the library lacks.
func missing(returns string) string {
	switch {
	case returns == "size_t":
		return "missing_size"
	case strings.HasPrefix(returns, "const char"):
		return "missing_text"
	case returns == "void":
		return "missing_nothing"
	}
	return "missing_status"
}

// jump defines a function that jumps to the address in its slot, with all registers and the stack unchanged.
// x16 is the register that the procedure call standard leaves to such code.
const jump = `#if defined(__x86_64__)
#define NMN_GO(slot) "jmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define NMN_GO(slot) "adrp x16, " slot "\nldr x16, [x16, #:lo12:" slot "]\nbr x16\n"
#else
#error "no trampoline is written for this processor"
#endif
#define NMN_JUMP(name, symbol, missing) \
  __attribute__((visibility("hidden"))) void *nmn_slot_##name = (void *)missing; \
  __asm__(".pushsection .text\n.globl " #symbol "\n.hidden " #symbol "\n.type " #symbol ",%function\n" \
          #symbol ":\n" NMN_GO("nmn_slot_" #name) ".popsection\n");

`
