package cublas

import (
	"errors"
	"fmt"
)

// Precision is how factors are multiplied. Sums are kept in float32.
type Precision uint8

// Float32 multiplies float32 exactly. TF32 rounds the factors, float32, to 10 bits of mantissa. BFloat16 has
// factors in bfloat16.
const (
	Float32 Precision = iota
	TF32
	BFloat16
)

// String is the name as it is written in settings and files.
func (p Precision) String() string {
	if p > BFloat16 {
		return fmt.Sprintf("precision %d", uint8(p))
	}
	return [...]string{"fp32", "tf32", "bf16"}[p]
}

// Product is the shape of d = op(a) op(b), all row-major. d is Rows×Columns. a is Rows×Inner, or Inner×Rows
// if TransposeA is set. b is Inner×Columns, or Columns×Inner if TransposeB is set.
type Product struct {
	Rows, Inner, Columns   int
	TransposeA, TransposeB bool
	// Bias adds one float32 for each column to all rows.
	Bias      bool
	Precision Precision
	// Wide has d in float32 if the factors are bfloat16.
	Wide bool
}

// String writes the shape for logs, files and reports of faults.
func (p Product) String() string {
	mark := func(is bool, text string) string {
		if is {
			return text
		}
		return ""
	}
	return fmt.Sprintf("%d×%d%s by %d×%d%s%s %v%s", p.Rows, p.Inner, mark(p.TransposeA, "ᵀ"), p.Inner, p.Columns,
		mark(p.TransposeB, "ᵀ"), mark(p.Bias, " + bias"), p.Precision, mark(p.Wide, " to fp32"))
}

// check refuses invalid products.
func (p Product) check() error {
	for _, n := range [...]int{p.Rows, p.Inner, p.Columns} {
		if n < 1 || n > 1<<30 {
			return fmt.Errorf("cublas: product %v: every size must be from 1 to 2^30", p)
		}
	}
	if p.Precision > BFloat16 {
		return fmt.Errorf("cublas: product %v: the precision must be fp32, tf32 or bf16", p)
	}
	return nil
}

// Way is how a product is computed: an algorithm of the library with its settings, which the library alone can read
// and no other version of it.
type Way struct {
	Algorithm [8]uint64 `json:"algorithm"`
	Workspace int       `json:"workspace"` // bytes of scratch memory
}

// Check refuses an invalid plan from a file. The library may still refuse a plan that passes.
func (w Way) Check() error {
	if w.Workspace < 0 || w.Workspace > maxWorkspace {
		return fmt.Errorf("scratch memory of %d bytes, want 0 to %d", w.Workspace, maxWorkspace)
	}
	if w.Algorithm == [8]uint64{} {
		return errors.New("no algorithm")
	}
	return nil
}

// maxWorkspace is the most scratch memory in bytes of a way.
const maxWorkspace = 64 << 20
