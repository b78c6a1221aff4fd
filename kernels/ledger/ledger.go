package ledger

import (
	"errors"
	"fmt"
	"math"
	"time"

	dense "gorgonia.org/tensor"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// Part is the part of a step that a launch belongs to, as tables sum launches up.
type Part uint8

// Parts of a step.
const (
	Forward        Part = iota // products of the forward pass, with bias and ReLU
	DataGradient               // products
	FilterGradient             // products, and what widens them
	Masks                      // ReLU masks of data gradients, and what is added to these
	BiasGradient
	Pool   // over windows: maxima, their gradients, and the bias gradients that these take along
	Update // of the parameters, with the norm of their gradient
	Rest
)

// Parts lists all parts in the order of tables.
func Parts() []Part {
	return []Part{Forward, DataGradient, FilterGradient, Masks, BiasGradient, Pool, Update, Rest}
}

// String is the name in tables.
func (p Part) String() string {
	if p > Rest {
		return fmt.Sprintf("part %d", uint8(p))
	}
	return [...]string{"forward", "data gradient", "filter gradient", "ReLU masks", "bias gradient", "pool",
		"update and norm", "rest"}[p]
}

// Launch is one piece of work that is enqueued on a card.
type Launch struct {
	// Kernel is a function of our own, or "cudnn" with the pass of a convolution, or Memcpy or Memset.
	Kernel string
	Part   Part
	// Read and Written count each byte of an operand once, however often a kernel comes back to it. Partial sums,
	// which are thousands of times smaller, and the scratch memory of cuDNN are left out.
	Read, Written int
	// FLOP counts the multiplications and additions of a convolution, those with padding too.
	FLOP float64
	// Math is how these are multiplied.
	Math tensor.Precision
}

// Bytes is what is read and written.
func (l Launch) Bytes() int { return l.Read + l.Written }

// Work on memory that is no kernel.
const (
	Memcpy = "memcpy"
	Memset = "memset"
)

// Ledger is a backend of the CUDA kind without a card. Its tensors have shapes, types and addresses, and no memory:
// uploads and downloads move nothing. It is a [kernels.Clock], whose marks stand between launches.
type Ledger struct {
	precision tensor.Precision
	launches  []Launch
	marks     []int // launches before each mark

	next         uintptr // the next free address
	sizes        map[uintptr]int
	held, most   int
	workspaces   map[string]*workspace
	inWorkspaces int
}

var (
	_ kernels.Backend    = (*Ledger)(nil)
	_ kernels.Clock      = (*Ledger)(nil)
	_ kernels.Accountant = (*Ledger)(nil)
)

// workspace is memory that an operation keeps from call to call.
type workspace struct {
	at    uintptr
	bytes int
}

// New makes a ledger of a card that computes in a precision; Auto and the empty one are bf16, as on a card that has it.
func New(p tensor.Precision) (*Ledger, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p == "" || p == tensor.Auto {
		p = tensor.BF16
	}
	return &Ledger{precision: p, next: alignment, sizes: map[uintptr]int{}, workspaces: map[string]*workspace{}}, nil
}

// Launches are those between two marks, in their order.
func (l *Ledger) Launches(first, last int) []Launch { return l.launches[l.marks[first]:l.marks[last]] }

// All are the launches so far.
func (l *Ledger) All() []Launch { return l.launches }

// ScratchBytes is the share of MostBytes that operations keep for themselves.
func (l *Ledger) ScratchBytes() int { return l.inWorkspaces }

// launch writes a launch down.
func (l *Ledger) launch(part Part, kernel string, read, written []*tensor.Tensor) {
	l.launches = append(l.launches, Launch{Kernel: kernel, Part: part, Read: bytesOf(read), Written: bytesOf(written)})
}

// some lists tensors, of which nil ones count nothing.
func some(tensors ...*tensor.Tensor) []*tensor.Tensor { return tensors }

func bytesOf(tensors []*tensor.Tensor) (bytes int) {
	for _, t := range tensors {
		if t != nil {
			bytes += t.Bytes()
		}
	}
	return bytes
}

// typed is the name of a kernel for maps of a type.
func typed(kernel string, t *tensor.Tensor) string {
	if t.DType() == tensor.BFloat16 {
		return kernel + "_bf16"
	}
	return kernel
}

// when is a tensor under a condition, else nil.
func when(condition bool, t *tensor.Tensor) *tensor.Tensor {
	if condition {
		return t
	}
	return nil
}

// reserve grows a workspace as tensor.Workspace does: what it has outgrown is not given back.
func (l *Ledger) reserve(name string, bytes int) {
	w := l.workspaces[name]
	if w == nil {
		w = &workspace{}
		l.workspaces[name] = w
	}
	if bytes > w.bytes {
		w.at, w.bytes = l.take(bytes), bytes
		l.inWorkspaces += bytes
	}
}

// alignment is that of addresses, as the driver has it.
const alignment = 256

func (l *Ledger) take(bytes int) uintptr {
	at := l.next
	l.next += uintptr((bytes + alignment) / alignment * alignment)
	l.sizes[at] = bytes
	l.held += bytes
	l.most = max(l.most, l.held)
	return at
}

// Name implements tensor.Device.
func (l *Ledger) Name() string { return fmt.Sprintf("a ledger, %s", l.precision) }

// Precision implements tensor.Device.
func (l *Ledger) Precision() tensor.Precision { return l.precision }

// Alloc implements tensor.Device.
func (l *Ledger) Alloc(dtype tensor.DType, shape ...int) (*tensor.Tensor, error) {
	size, err := tensor.Elements(shape)
	if err != nil {
		return nil, err
	}
	return tensor.OfAddress(l.take(size*dtype.Size()), dtype, shape...)
}

// Free implements tensor.Device.
func (l *Ledger) Free(t *tensor.Tensor) error {
	bytes, known := l.sizes[t.Address()]
	if !known {
		return fmt.Errorf("ledger: %s at %#x is not held", t, t.Address())
	}
	delete(l.sizes, t.Address())
	l.held -= bytes
	return nil
}

// Upload implements tensor.Device: nothing moves, and no kernel is launched.
func (l *Ledger) Upload(*tensor.Tensor, *dense.Dense) error { return nil }

// Download implements tensor.Device: the host array stays as it is.
func (l *Ledger) Download(*dense.Dense, *tensor.Tensor) error { return nil }

// Copy implements tensor.Device.
func (l *Ledger) Copy(dst, src *tensor.Tensor) error {
	if dst.DType() != src.DType() || dst.Len() != src.Len() {
		return fmt.Errorf("copy: %s to %s: %w", src, dst, tensor.ErrShape)
	}
	if dst.Bytes() > 0 {
		l.launch(Rest, Memcpy, some(src), some(dst))
	}
	return nil
}

// Sync implements tensor.Device.
func (l *Ledger) Sync() error { return nil }

// Close implements tensor.Device.
func (l *Ledger) Close() error { return nil }

// MostBytes implements kernels.Accountant: the workspaces of our own operations are counted, those of cuDNN not.
func (l *Ledger) MostBytes() int { return l.most }

// FreeBytes implements kernels.Accountant.
func (l *Ledger) FreeBytes() (int, error) { return math.MaxInt, nil }

// Mark implements kernels.Clock.
func (l *Ledger) Mark(number int) error {
	for len(l.marks) <= number {
		l.marks = append(l.marks, 0)
	}
	l.marks[number] = len(l.launches)
	return nil
}

// Between implements kernels.Clock: nothing takes time.
func (l *Ledger) Between(first, last int) (time.Duration, error) {
	if first < 0 || last < first || last >= len(l.marks) {
		return 0, errors.New("ledger: no such marks")
	}
	return 0, nil
}
