// Package signature reads the kernels of a CUDA source: the declarations
//
//	extern "C" __global__ void [__launch_bounds__(N[, BLOCKS])] name(type argument, ...)
//
// Types are pointers, int, unsigned, long long and float.
package signature

import (
	"fmt"
	"regexp"
	"strings"
)

// Kernel is one declaration.
type Kernel struct {
	Name string
	// Bound is the C++ expression of the maximum number of threads of a block, "1024" if none is given.
	Bound  string
	Params []Param
}

// Param is one argument.
type Param struct {
	Name    string
	Type    string // as written, without const, the star and spaces around them
	Pointer bool
}

var (
	comments    = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	declaration = regexp.MustCompile(
		`extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\(([^)]*)\)\s*)?(\w+)\s*\(([^)]*)\)`)
	global    = regexp.MustCompile(`__global__`)
	parameter = regexp.MustCompile(`^(?:const\s+)?(\w+(?:\s+\w+)*?)\s*(\*?)\s*(\w+)$`)
	values    = map[string]bool{"int": true, "unsigned": true, "long long": true, "float": true}
)

// Parse lists the kernels of a source in their order. A __global__ function in an unknown form is an error,
// as is an argument of an unknown type.
func Parse(source string) ([]Kernel, error) {
	source = comments.ReplaceAllString(source, "")
	found := declaration.FindAllStringSubmatch(source, -1)
	if n := len(global.FindAllString(source, -1)); n != len(found) {
		return nil,
			fmt.Errorf(`%d functions are __global__, and %d are declared as: extern "C" __global__ void name(...)`, n,
				len(found))
	}
	var kernels []Kernel
	for _, m := range found {
		bound, _, _ := strings.Cut(m[1], ",") // what follows is how many blocks a multiprocessor should hold
		k := Kernel{Name: m[2], Bound: strings.TrimSpace(bound)}
		if k.Bound == "" {
			k.Bound = "1024"
		}
		for _, text := range strings.Split(m[3], ",") {
			p, err := parse(strings.Join(strings.Fields(text), " "))
			if err != nil {
				return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
			}
			k.Params = append(k.Params, p)
		}
		kernels = append(kernels, k)
	}
	return kernels, nil
}

func parse(text string) (Param, error) {
	m := parameter.FindStringSubmatch(text)
	if m == nil {
		return Param{}, fmt.Errorf("cannot read argument %q", text)
	}
	p := Param{Name: m[3], Type: m[1], Pointer: m[2] == "*"}
	if !p.Pointer && !values[p.Type] {
		return p, fmt.Errorf("argument %q: want a pointer, int, unsigned, long long or float", text)
	}
	return p, nil
}
