package ledger_test

import (
	"errors"
	"slices"
	"testing"

	"nmn/kernels/conv"
	"nmn/kernels/ledger"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// book is a ledger whose tensors are made without errors.
type book struct {
	*ledger.Ledger
	t *testing.T
}

func newBook(t *testing.T, p tensor.Precision) book {
	t.Helper()
	l, err := ledger.New(p)
	must(t, err)
	return book{l, t}
}

func (b book) tensor(dtype tensor.DType, shape ...int) *tensor.Tensor {
	b.t.Helper()
	t, err := b.Alloc(dtype, shape...)
	must(b.t, err)
	return t
}

// has checks the launches since the last call.
func (b book) has(seen *int, want ...ledger.Launch) {
	b.t.Helper()
	got := b.All()[*seen:]
	*seen = len(b.All())
	if !slices.Equal(got, want) {
		b.t.Errorf("launches %+v\nwant %+v", got, want)
	}
}

// The ways of a data gradient: written in place, masked, masked over its own mask, added to what is there.
func TestLedger_DataGradients(t *testing.T) {
	b, seen := newBook(t, tensor.BF16), 0
	dx, mask := b.tensor(tensor.BFloat16, 2, 4, 4, 8), b.tensor(tensor.BFloat16, 2, 4, 4, 8)
	w, dy := b.tensor(tensor.BFloat16, 16, 3, 3, 8), b.tensor(tensor.BFloat16, 2, 4, 4, 16)
	wide, bias := b.tensor(tensor.Float32, 2, 4, 4, 16), b.tensor(tensor.Float32, 16)
	const map8, map16, filter, flop = 2 * 2 * 16 * 8, 2 * 2 * 16 * 16, 2 * 16 * 9 * 8, 2 * 32 * 9 * 8 * 16
	product := ledger.Launch{Kernel: "cudnn data gradient", Part: ledger.DataGradient, Read: filter + map16,
		Written: map8, FLOP: flop, Math: tensor.BF16}
	end := ledger.Launch{Kernel: "end_gradient_bf16", Part: ledger.Masks, Read: 2 * map8, Written: map8}

	must(t, b.ConvGradData(dx, dy, w, nil, conv.Params{Pad: 1}))
	b.has(&seen, product)
	must(t, b.ConvGradData(dx, dy, w, mask, conv.Params{Pad: 1}))
	masked := product
	masked.Kernel, masked.Read = "cudnn masked data gradient", product.Read+map8
	b.has(&seen, masked)
	if b.ScratchBytes() != 0 {
		t.Errorf("%d bytes of scratch memory without need", b.ScratchBytes())
	}
	must(t, b.ConvGradData(mask, dy, w, mask, conv.Params{Pad: 1}))
	b.has(&seen, product, end)
	if b.ScratchBytes() != map8 {
		t.Errorf("%d bytes of scratch memory, want %d", b.ScratchBytes(), map8)
	}
	must(t, b.ConvGradData(dx, dy, w, mask, conv.Params{Pad: 1, Accumulate: true}))
	end.Read += map8
	b.has(&seen, product, end)
	must(t, b.ConvGradData(dx, wide, w, nil, conv.Params{Pad: 1}))
	b.has(&seen, ledger.Launch{Kernel: "to_bf16", Part: ledger.Rest, Read: 2 * map16, Written: map16}, product)
	db := b.tensor(tensor.Float32, 8)
	must(t, b.ConvGradDataBias(dx, db, dy, w, mask, conv.Params{Pad: 1}))
	b.has(&seen, masked, ledger.Launch{Kernel: "bias_gradient_bf16", Part: ledger.BiasGradient, Read: map8, Written: 32})
	must(t, b.ConvGradDataBias(mask, db, dy, w, mask, conv.Params{Pad: 1}))
	b.has(&seen, product, ledger.Launch{Kernel: "mask_bias_gradient_bf16", Part: ledger.Masks, Read: 2 * map8,
		Written: map8 + 32})
	must(t, b.ConvGradDataBias(dx, db, dy, w, nil, conv.Params{Pad: 1, Accumulate: true}))
	b.has(&seen, product, ledger.Launch{Kernel: "bias_gradient_bf16", Part: ledger.BiasGradient, Read: map8 + 32,
		Written: 32})
	if err := b.ConvGradDataBias(dx, bias, dy, w, nil, conv.Params{Pad: 1}); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a bias of another length: %v", err)
	}
	if err := b.ConvGradData(dx, dy, w, dy, conv.Params{Pad: 1}); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a mask of another shape: %v", err)
	}
}

// Where channels are no multiple of 8 cuDNN rounds what is wanted in float32, and a kernel widens it.
func TestLedger_ResultsInFloat32(t *testing.T) {
	b, seen := newBook(t, tensor.Auto), 0
	x, y := b.tensor(tensor.BFloat16, 1, 2, 2, 5), b.tensor(tensor.Float32, 1, 2, 2, 8)
	w, bias, dw := b.tensor(tensor.BFloat16, 8, 1, 1, 5), b.tensor(tensor.Float32, 8), b.tensor(tensor.Float32, 8, 1, 1, 5)
	dy := b.tensor(tensor.BFloat16, 1, 2, 2, 8)
	const flop = 2 * 4 * 5 * 8
	must(t, b.Conv(y, x, w, bias, conv.Params{}))
	b.has(&seen,
		ledger.Launch{Kernel: "cudnn forward", Read: 2*20 + 2*40, Written: 2 * 32, FLOP: flop, Math: tensor.BF16},
		ledger.Launch{Kernel: "from_bf16", Read: 2 * 32, Written: 4 * 32},
		ledger.Launch{Kernel: "add_bias", Read: 4*32 + 4*8, Written: 4 * 32})
	must(t, b.ConvGradFilter(dw, x, dy, conv.Params{Accumulate: true}))
	b.has(&seen,
		ledger.Launch{Kernel: "cudnn filter gradient", Part: ledger.FilterGradient, Read: 2*20 + 2*32, Written: 2 * 40,
			FLOP: flop, Math: tensor.BF16},
		ledger.Launch{Kernel: "from_bf16", Part: ledger.FilterGradient, Read: 2*40 + 4*40, Written: 4 * 40})
}

// Of a window, the element that neither decides is not read. Windows at the border have none.
func TestLedger_MaximaAreFoundByThreeElements(t *testing.T) {
	b, seen := newBook(t, tensor.FP32), 0
	x, dx := b.tensor(tensor.Float32, 2, 5, 4, 8), b.tensor(tensor.Float32, 2, 5, 4, 8)
	y, dy, db := b.tensor(tensor.Float32, 2, 3, 2, 8), b.tensor(tensor.Float32, 2, 3, 2, 8), b.tensor(tensor.Float32, 8)
	const whole, part, pooled = 4 * 2 * 20 * 8, 4 * 2 * 16 * 8, 4 * 2 * 6 * 8
	must(t, b.MaxPool(y, x))
	must(t, b.MaxPoolGrad(dx, dy, x, y, true))
	must(t, b.MaxPoolGradBias(dx, db, dy, x, y, pool.MaxGradParams{Accumulate: true}))
	b.has(&seen,
		ledger.Launch{Kernel: "max_pool", Part: ledger.Pool, Read: whole, Written: pooled},
		ledger.Launch{Kernel: "max_pool_gradient", Part: ledger.Pool, Read: 2*pooled + part, Written: whole},
		ledger.Launch{Kernel: "max_pool_gradient_bias", Part: ledger.Pool, Read: 2*pooled + part + 32, Written: whole + 32})
}

// One launch over all parameters but those at rest; the copy in bfloat16 is written, never read.
func TestLedger_Updates(t *testing.T) {
	b, seen := newBook(t, tensor.BF16), 0
	of := func(n int) *tensor.Tensor { return b.tensor(tensor.Float32, n) }
	norm := of(1)
	entries := []update.Entry{
		{W: of(10), G: of(10), M: of(10), V: of(10), Copy: b.tensor(tensor.BFloat16, 10), Average: of(10), LR: 1},
		{W: of(7), G: of(7), M: of(7), V: of(7), Average: of(7)},
	}
	adam := update.AdamParams{Beta1: .9, Beta2: .999, Epsilon: 1e-8, Step: 1}
	for _, err := range []error{b.GradNorm(norm, entries), b.Clip(entries, norm, 1), b.Adam(entries, adam),
		b.Average(entries, .1), b.Exchange(entries), b.GradNorm(norm, entries[1:]), b.Zero(norm)} {
		must(t, err)
	}
	b.has(&seen,
		ledger.Launch{Kernel: "gradient_norm", Part: ledger.Update, Read: 40, Written: 4},
		ledger.Launch{Kernel: "clip", Part: ledger.Update, Read: 40, Written: 40},
		ledger.Launch{Kernel: "adam", Part: ledger.Update, Read: 160, Written: 120 + 20},
		ledger.Launch{Kernel: "average", Part: ledger.Update, Read: 80, Written: 40},
		ledger.Launch{Kernel: "exchange", Part: ledger.Update, Read: 80, Written: 80 + 20},
		ledger.Launch{Kernel: "gradient_norm", Part: ledger.Update, Written: 4},
		ledger.Launch{Kernel: ledger.Memset, Part: ledger.Rest, Written: 4})
}

func TestLedger_CountsMemory(t *testing.T) {
	b := newBook(t, tensor.FP32)
	large, small := b.tensor(tensor.Float32, 1000), b.tensor(tensor.Int32, 10)
	must(t, b.Free(large))
	b.tensor(tensor.Uint8, 100)
	if b.MostBytes() != 4040 {
		t.Errorf("%d bytes at most, want 4040", b.MostBytes())
	}
	if err := b.Free(large); err == nil {
		t.Error("memory was given back twice")
	}
	if small.Address()%16 != 0 || small.Address() == 0 {
		t.Errorf("an address is %#x", small.Address())
	}
}

func TestLedger_MarksStandBetweenLaunches(t *testing.T) {
	b := newBook(t, tensor.FP32)
	x := b.tensor(tensor.Float32, 4)
	must(t, b.Mark(0))
	must(t, errors.Join(b.ReLU(x, x), b.Mark(1), b.Zero(x), b.Mark(2)))
	if between := b.Launches(1, 2); len(between) != 1 || between[0].Kernel != ledger.Memset {
		t.Errorf("between the marks: %+v", between)
	}
	if _, err := b.Between(1, 3); err == nil {
		t.Error("there was time up to a mark that nobody made")
	}
	if _, err := ledger.New("fp7"); err == nil {
		t.Error("a precision fp7 was accepted")
	}
}

func TestInstead_ListsTheWaysOfAConvolution(t *testing.T) {
	for _, test := range []struct {
		kernels []string
		want    [][]string
	}{
		{[]string{"sgd"}, nil},
		{[]string{"to_bf16", "cudnn data gradient", "end_gradient_bf16"}, [][]string{{"to_bf16", "cudnn masked data gradient"}}},
		{[]string{"cudnn masked data gradient", "bias_gradient_bf16"}, [][]string{{"cudnn data gradient", "mask_bias_gradient_bf16"}}},
		{[]string{"cudnn data gradient"}, nil},
		{[]string{"to_bf16", "cudnn forward+bias"}, [][]string{{"cudnn forward", "add_bias_bf16"}, {"cudnn forward+bias"}}},
		{[]string{"cudnn forward+bias"}, [][]string{{"to_bf16", "cudnn forward+bias"}, {"cudnn forward", "add_bias_bf16"}}},
		{[]string{"first_conv_bf16"}, [][]string{{"to_bf16", "cudnn forward+bias+relu"}, {"cudnn forward", "add_bias_bf16"},
			{"cudnn forward+bias+relu"}, {"to_bf16", "cudnn forward+bias"}, {"cudnn forward+bias"}}},
		{[]string{"cudnn filter gradient"}, [][]string{{"cudnn filter gradient", "from_bf16"}}},
	} {
		if got := ledger.Instead(test.kernels); !slices.EqualFunc(got, test.want, slices.Equal) {
			t.Errorf("%q: %q, want %q", test.kernels, got, test.want)
		}
	}
}
