package conform

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/tools/ref"
)

var errLate = errors.New("late fault")

// beyond reaches memory around a view, as a kernel with a wrong index does: the element at an offset
// from the view's start.
func beyond(t array, offset int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(&t.Float32s()[0]), offset*4))
}

var faults = []fault{
	{"one element off", "Conv", "element", afterConv(func(y, x array) {
		y.Float32s()[y.Len()-1] += 1e-3
	})},
	{"NaN in one element", "Conv", "NaN", afterConv(func(y, x array) {
		y.Float32s()[y.Len()/2] = float32(math.NaN())
	})},
	{"one element not written", "Conv", "NaN", func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		last := y.Float32s()[y.Len()-1]
		err := b.Conv(y, x, w, bias, p)
		y.Float32s()[y.Len()-1] = last
		return err
	}},
	{"rounds to 16 bits", "Conv", "relative norm", afterConv(func(y, x array) {
		for i, v := range y.Float32s() {
			y.Float32s()[i] = math.Float32frombits(math.Float32bits(v) &^ 0xffff)
		}
	})},
	{"writes past its end", "Conv", "past its end", afterConv(func(y, x array) {
		*beyond(y, y.Len()+5) = 0
	})},
	{"writes before its start", "Conv", "before its start", afterConv(func(y, x array) {
		*beyond(y, -1) = 1
	})},
	{"changes its input", "Conv", "input was changed", afterConv(func(y, x array) {
		x.Float32s()[0]++
	})},
	{"not repeatable", "Conv", "not repeatable", drifting()},
	{"ignores the bias", "Conv", "element", func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		return b.Conv(y, x, w, nil, p)
	}},
	{"ignores ReLU", "Conv", "element", func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		p.ReLU = false
		return b.Conv(y, x, w, bias, p)
	}},
	{"reads past its input", "Conv", "NaN", afterConv(func(y, x array) {
		y.Float32s()[0] += 1e-30 * *beyond(x, x.Len())
	})},
	{"accepts any shape", "Conv", "accepted", func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		_ = b.Conv(y, x, w, bias, p)
		return nil
	}},
	{"panics on a wrong shape", "Conv", "panic", func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		if err := b.Conv(y, x, w, bias, p); err != nil {
			panic(err)
		}
		return nil
	}},
	{"ignores accumulate", "ConvGradFilter", "element", func(b kernels.Backend, dw, x, dy array, p conv.Params) error {
		p.Accumulate = false
		return b.ConvGradFilter(dw, x, dy, p)
	}},
	{"always accumulates", "ConvGradFilter", "NaN", func(b kernels.Backend, dw, x, dy array, p conv.Params) error {
		p.Accumulate = true
		return b.ConvGradFilter(dw, x, dy, p)
	}},
	{"ignores the mask", "ConvGradData", "element", func(b kernels.Backend, dx, dy, w, mask array,
		p conv.Params) error {
		return b.ConvGradData(dx, dy, w, nil, p)
	}},
	{"flips the filter", "ConvGradData", "central differences", func(b kernels.Backend, dx, dy, w, mask array,
		p conv.Params) error {
		mirrored := mustOf(reversed(w.Float32s()), w.Shape())
		return b.ConvGradData(dx, dy, mirrored, mask, p)
	}},
	{"masks before it accumulates", "ConvGradData", "element", func(b kernels.Backend, dx, dy, w, mask array,
		p conv.Params) error {
		if !p.Accumulate || mask == nil {
			return b.ConvGradData(dx, dy, w, mask, p)
		}
		held := get(dx)
		p.Accumulate = false
		err := b.ConvGradData(dx, dy, w, mask, p)
		put(dx, sum(get(dx), held))
		return err
	}},
	{"sums what the mask stops", "ConvGradDataBias", "db", func(b kernels.Backend, dx, db, dy, w, mask array,
		p conv.Params) error {
		keep := append([]float64(nil), get(mask)...)
		if err := b.ConvGradDataBias(dx, db, dy, w, nil, p); err != nil || mask == nil {
			return err
		}
		out := get(dx)
		for i := range keep {
			if keep[i] <= 0 {
				out[i] = 0
			}
		}
		put(dx, out)
		return nil
	}},
	{"overwrites the bias gradient below", "ConvGradDataBias", "db", func(b kernels.Backend, dx, db, dy, w,
		mask array, p conv.Params) error {
		return b.ConvGradDataBias(dx, db, dy, w, mask, conv.Params{Pad: p.Pad})
	}},
	{"ignores the mask of both gradients", "ConvGradDataBias", "element", func(b kernels.Backend, dx, db, dy, w,
		mask array, p conv.Params) error {
		return b.ConvGradDataBias(dx, db, dy, w, nil, p)
	}},
	{"drops the mask", "Dropout", "element", func(b kernels.Backend, y, x, keys, seed array, rate float32) error {
		err := b.Dropout(y, x, keys, seed, rate)
		if err == nil {
			copy(y.Float32s(), x.Float32s())
		}
		return err
	}},
	{"mask depends on the row", "Dropout", "element", func(b kernels.Backend, y, x, keys, seed array,
		rate float32) error {
		rows := make([]int32, keys.Len())
		for i := range rows {
			rows[i] = int32(i)
		}
		if keys.Int32s() == nil {
			return tensor.ErrShape
		}
		own, _ := tensor.OfInt32s(rows, len(rows))
		return b.Dropout(y, x, own, seed, rate)
	}},
	{"reads half of the seed", "Dropout", "element", func(b kernels.Backend, y, x, keys, seed array,
		rate float32) error {
		half, _ := tensor.OfInt32s(make([]int32, seed.Len()), seed.Len())
		copy(half.Int32s()[:1], seed.Int32s())
		return b.Dropout(y, x, keys, half, rate)
	}},
	{"does not scale", "Dropout", "element", func(b kernels.Backend, y, x, keys, seed array, rate float32) error {
		err := b.Dropout(y, x, keys, seed, rate)
		if err == nil {
			put(y, scaled(get(y), 1-float64(rate)))
		}
		return err
	}},
	{"sums what the mask stops", "MaxPoolGradBias", "db", func(b kernels.Backend, dx, db, dy, x, y array,
		p pool.MaxGradParams) error {
		kept := append([]float64(nil), get(db)...)
		if err := b.MaxPoolGradBias(dx, db, dy, x, y, pool.MaxGradParams{Accumulate: p.Accumulate}); err != nil || !p.ReLU {
			return err
		}
		sums := get(db)
		put(db, kept)
		if err := b.MaxPoolGradBias(dx, db, dy, x, y, p); err != nil {
			return err
		}
		put(db, sums)
		return nil
	}},
	{"overwrites the bias gradient", "MaxPoolGradBias", "db", func(b kernels.Backend, dx, db, dy, x, y array,
		p pool.MaxGradParams) error {
		return b.MaxPoolGradBias(dx, db, dy, x, y, pool.MaxGradParams{ReLU: p.ReLU})
	}},
	{"last of equal elements wins", "MaxPoolGrad", "element", func(b kernels.Backend, dx, dy, x, y array,
		relu bool) error {
		if err := b.MaxPoolGrad(dx, dy, x, y, relu); err != nil {
			return err
		}
		m := mapOf(x)
		tilted := get(x) // later elements count as a little larger
		for i := range tilted {
			tilted[i] += 1e-9 * float64(i)
		}
		tiltedDX, _ := ref.MaxPoolGrad(m, get(dy), tilted, 0, relu)
		put(dx, tiltedDX)
		return nil
	}},
	{"all equal elements win", "MaxPoolGrad", "element", func(b kernels.Backend, dx, dy, x, y array, relu bool) error {
		if err := b.MaxPoolGrad(dx, dy, x, y, relu); err != nil {
			return err
		}
		m := mapOf(x)
		for i, place := range ref.MaxPoolArg(m, get(x), 0) {
			if next := place + m.C; next < x.Len() && x.Float32s()[next] == x.Float32s()[place] && place/m.C%m.W%2 == 0 {
				dx.Float32s()[next] = dy.Float32s()[i]
			}
		}
		return nil
	}},
	{"ignores the ReLU below", "MaxPoolGrad", "element", func(b kernels.Backend, dx, dy, x, y array, _ bool) error {
		return b.MaxPoolGrad(dx, dy, x, y, false)
	}},
	{"takes frames for bags", "BagPool", "shapes do not fit", func(b kernels.Backend, g, x, bags array,
		kind pool.Kind) error {
		return b.BagPool(g, x, nil, kind)
	}},
	{"accepts empty bags", "BagPool", "accepted", func(b kernels.Backend, g, x, bags array, kind pool.Kind) error {
		if bags != nil && bags.Int32s() != nil && bags.Len() == 3 && bags.Int32s()[0] == bags.Int32s()[1] {
			return nil
		}
		return b.BagPool(g, x, bags, kind)
	}},
	{"ignores accumulate", "BagPoolGrad", "element", func(b kernels.Backend, dx, dg, x, g, bags array, kind pool.Kind,
		_ bool) error {
		return b.BagPoolGrad(dx, dg, x, g, bags, kind, false)
	}},
	{"transposes the transition", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput, logits,
		confidence, labels, bags array, p noise.StepParams) error {
		if confidence == nil {
			return b.NoiseStep(out, logits, confidence, labels, bags, p)
		}
		turned := append([]float32(nil), confidence.Float32s()...)
		k := confidence.Dim(-1)
		for at := 0; at+4*k <= len(turned); at += 4 * k {
			for c := range k {
				turned[at+k+c], turned[at+2*k+c] = turned[at+2*k+c], turned[at+k+c]
			}
		}
		return b.NoiseStep(out, logits, mustOf(turned, confidence.Shape()), labels, bags, p)
	}},
	{"ignores the scale", "NoiseStep", "dLogits", func(b kernels.Backend, out noise.StepOutput, logits, confidence,
		labels, bags array, p noise.StepParams) error {
		p.Scale = 1
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"ignores weights", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput, logits, confidence,
		labels, bags array, p noise.StepParams) error {
		p.Weights = nil
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"ignores MIL", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput, logits, confidence, labels,
		bags array, p noise.StepParams) error {
		p.MIL = false
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"loses small gradients", "NoiseStep", "dLogits", func(b kernels.Backend, out noise.StepOutput, logits,
		confidence, labels, bags array, p noise.StepParams) error {
		err := b.NoiseStep(out, logits, confidence, labels, bags, p)
		if err == nil && out.DLogits != nil { // as p - rho does when it cancels
			for i, v := range out.DLogits.Float32s() {
				out.DLogits.Float32s()[i] = v + 1 - 1
			}
		}
		return err
	}},
	{"exchanges the exponents of labels", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput,
		logits, confidence, labels, bags array, p noise.StepParams) error {
		p.Asymmetric.Positive, p.Asymmetric.Negative = p.Asymmetric.Negative, p.Asymmetric.Positive
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"takes unknown labels for 0", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput, logits,
		confidence, labels, bags array, p noise.StepParams) error {
		if labels != nil {
			labels = mustOf(append([]float32(nil), labels.Float32s()...), labels.Shape())
			for i, z := range labels.Float32s() {
				labels.Float32s()[i] = max(z, 0)
			}
		}
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"takes evidence for labels", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput, logits,
		confidence, labels, bags array, p noise.StepParams) error {
		if p.Evidence && confidence == nil && p.Asymmetric == (noise.AsymmetricLoss{}) && labels != nil {
			p.Evidence, labels = false, mustOf(append([]float32(nil), labels.Float32s()...), labels.Shape())
			for i, e := range labels.Float32s() {
				labels.Float32s()[i] = 0
				if e > 0 {
					labels.Float32s()[i] = 1
				}
			}
		}
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"turns the sign of evidence", "NoiseStep", "element", func(b kernels.Backend, out noise.StepOutput, logits,
		confidence, labels, bags array, p noise.StepParams) error {
		if p.Evidence && labels != nil {
			labels = mustOf(append([]float32(nil), labels.Float32s()...), labels.Shape())
			for i, e := range labels.Float32s() {
				labels.Float32s()[i] = -e
			}
		}
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"leaves the constant of the loss by evidence", "NoiseStep", "loss", func(b kernels.Backend, out noise.StepOutput,
		logits, confidence, labels, bags array, p noise.StepParams) error {
		err := b.NoiseStep(out, logits, confidence, labels, bags, p)
		if err == nil && p.Evidence && out.Loss != nil {
			for i, e := range labels.Float32s() {
				out.Loss.Float32s()[i/labels.Dim(1)] -= max(e, 0)
			}
		}
		return err
	}},
	{"learns evidence with a noise model", "NoiseStep", "accepted", func(b kernels.Backend, out noise.StepOutput,
		logits, confidence, labels, bags array, p noise.StepParams) error {
		if confidence != nil {
			p.Evidence = false
		}
		return b.NoiseStep(out, logits, confidence, labels, bags, p)
	}},
	{"takes the last of equal losses", "LargeLosses", "element", func(b kernels.Backend, targets, o, z, count array,
		instead float32) error {
		turned := func(t *tensor.Tensor) *tensor.Tensor {
			list := append([]float32(nil), t.Float32s()...)
			slices.Reverse(list)
			return mustOf(list, t.Shape())
		}
		if !tensor.SameShape(o, z) || !tensor.SameShape(o, targets) {
			return b.LargeLosses(targets, o, z, count, instead)
		}
		err := b.LargeLosses(targets, turned(o), turned(z), count, instead)
		slices.Reverse(targets.Float32s())
		return err
	}},
	{"takes large losses of all labels", "LargeLosses", "element", func(b kernels.Backend, targets, o, z, count array,
		instead float32) error {
		if !tensor.SameShape(o, z) {
			return b.LargeLosses(targets, o, z, count, instead)
		}
		return b.LargeLosses(targets, o, mustOf(make([]float32, z.Len()), z.Shape()), count, instead)
	}},
	{"decays frozen weights", "SGD", "element", func(b kernels.Backend, entries []update.Entry,
		momentum float32) error {
		err := b.SGD(entries, momentum)
		for _, e := range entries {
			if e.LR == 0 {
				put(e.W, scaled(get(e.W), 0.999))
			}
		}
		return err
	}},
	{"changes the gradient", "SGD", "input was changed", func(b kernels.Backend, entries []update.Entry,
		momentum float32) error {
		err := b.SGD(entries, momentum)
		for _, e := range entries {
			clear(e.G.Float32s())
		}
		return err
	}},
	{"does not correct the bias", "Adam", "element", func(b kernels.Backend, entries []update.Entry,
		p update.AdamParams) error {
		p.Step = 1_000_000
		return b.Adam(entries, p)
	}},
	{"adds the decay to the gradient", "AdamW", "element", kernels.Backend.Adam},
	{"keeps the average of frozen weights", "Average", "element", func(b kernels.Backend, entries []update.Entry,
		share float32) error {
		all := append([]update.Entry(nil), entries...)
		for i := range all {
			all[i].LR = 1
		}
		return b.Average(all, share)
	}},
	{"copies instead of exchanging", "Exchange", "element", func(b kernels.Backend, entries []update.Entry) error {
		before := make([][]float64, len(entries))
		for i, e := range entries {
			if e.Average != nil {
				before[i] = get(e.Average)
			}
		}
		err := b.Exchange(entries)
		for i, e := range entries {
			if e.Average != nil {
				put(e.Average, before[i])
			}
		}
		return err
	}},
	{"hides a NaN", "GradNorm", "not finite", func(b kernels.Backend, norm array, entries []update.Entry) error {
		err := b.GradNorm(norm, entries)
		if err == nil && norm.Float32s()[0] != norm.Float32s()[0] {
			norm.Float32s()[0] = 0
		}
		return err
	}},
	{"counts frozen gradients", "GradNorm", "element", func(b kernels.Backend, norm array,
		entries []update.Entry) error {
		all := append([]update.Entry(nil), entries...)
		for i := range all {
			all[i].LR = 1
		}
		return b.GradNorm(norm, all)
	}},
	{"clips always", "Clip", "element", func(b kernels.Backend, entries []update.Entry, norm array,
		limit float32) error {
		return b.Clip(entries, norm, min(limit, 1.5))
	}},
	{"mirrors the whole canvas", "Normalize", "element", func(b kernels.Backend, x, picture, sizes, flips array,
		p pixels.Params) error {
		return b.Normalize(x, picture, nil, flips, p)
	}},
	{"fault that only Sync returns", "Conv", "late fault", func() error { return errLate }},
}

// afterConv is a right convolution whose memory is spoiled afterwards.
func afterConv(spoil func(y, x array)) func(_ kernels.Backend, y, x, w, bias array, p conv.Params) error {
	return func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		err := b.Conv(y, x, w, bias, p)
		if err == nil {
			spoil(y, x)
		}
		return err
	}
}

// drifting gives another last bit at each call, as sums in the order of threads do.
func drifting() func(_ kernels.Backend, y, x, w, bias array, p conv.Params) error {
	calls := uint32(0)
	return afterConv(func(y, x array) {
		calls++
		y.Float32s()[0] = math.Float32frombits(math.Float32bits(y.Float32s()[0]) ^ calls&1)
	})
}

func mustOf(data []float32, shape []int) array {
	t, err := tensor.OfFloat32s(data, shape...)
	if err != nil {
		panic(err)
	}
	return t
}

func reversed(list []float32) []float32 {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func TestJudge_FindsEveryFault(t *testing.T) {
	unlessShort(t)
	groups, made := map[string][]Case{}, calls{}
	for _, c := range Cases() {
		if !c.Large && (len(groups[c.Op]) < 60 || c.Refuse || !strings.HasPrefix(c.Op, "Conv")) { // some of many shapes
			groups[c.Op] = append(groups[c.Op], c)
		}
	}
	right := OpenCPU(t, 1)
	for _, f := range slices.Concat(faults, sequenceFaults, transformerFaults, residualFaults) {
		t.Run(strings.ReplaceAll(f.op+" "+f.name, " ", "_"), func(t *testing.T) {
			b := broken{right, f}
			found, told := 0, false
			for _, c := range groups[f.op] {
				problems := made.judge(&b, nil, c, Options{Accuracy: FP32()})
				if len(problems) > 0 {
					found++
				}
				if told = strings.Contains(fmt.Sprint(problems), f.message); told {
					break
				}
			}
			switch {
			case found == 0:
				t.Errorf("no case of %s found it", f.op)
			case !told:
				t.Errorf("%d cases of %s found it, none reports %q", found, f.op, f.message)
			}
		})
	}
}

// A backend whose results depend on the number of threads passes alone, but not together with another.
func TestJudge_FindsResultsThatDependOnThreads(t *testing.T) {
	right := OpenCPU(t, 1)
	other := &broken{right, fault{op: "Conv", wrong: afterConv(func(y, x array) {
		y.Float32s()[0] = math.Float32frombits(math.Float32bits(y.Float32s()[0]) ^ 1)
	})}}
	all, made := Cases(), calls{}
	c := all[slices.IndexFunc(all, func(c Case) bool { return c.Op == "Conv" })]
	if problems := made.judge(other, nil, c, Options{Accuracy: FP32()}); len(problems) != 0 {
		t.Errorf("one bit is too much: %v", problems)
	}
	problems := made.judge(right, other, c, Options{Accuracy: FP32()})
	if !strings.Contains(fmt.Sprint(problems), "another number of threads") {
		t.Errorf("found %v", problems)
	}
}

func TestJudge_FindsAllocations(t *testing.T) {
	var kept [][]float32
	b := &broken{OpenCPU(t, 1), fault{op: "Conv", wrong: afterConv(func(y, _ array) {
		kept = append(kept[:0], make([]float32, y.Len()))
	})}}
	all := Cases()
	c := all[slices.IndexFunc(all, func(c Case) bool { return c.Op == "Conv" })]
	problems := calls{}.judge(b, nil, c, Options{Accuracy: FP32(), ZeroAllocs: true})
	if !strings.Contains(fmt.Sprint(problems), "allocates") {
		t.Errorf("found %v", problems)
	}
}

// Every case has work to do, apart from updates that must change nothing.
func TestJudge_FindsOperationsThatDoNothing(t *testing.T) {
	unlessShort(t)
	b := OpenCPU(t, 1)
	for _, c := range Cases() {
		nothing := c.Op == "SGD" && strings.HasPrefix(c.Name, "entries=none") ||
			c.Op == "Average" && (c.Name == "entries=none" || strings.HasSuffix(c.Name, "share=0_thousandths")) ||
			c.Op == "Clip" && !c.Refuse && c.Name != named("norm=2,limit=5_tenths") ||
			strings.HasPrefix(c.Op, "Dropout") && strings.Contains(c.Name, "rate=0,inplace=true")
		if c.Large || nothing {
			continue
		}
		made := calls{}
		made.make(c, b).run = func(kernels.Backend) error { return nil }
		if len(made.judge(b, nil, c, Options{Accuracy: FP32()})) == 0 {
			t.Errorf("%s/%s passes when nothing is done", c.Op, c.Name)
		}
	}
}

func TestSums_NaNNeverPasses(t *testing.T) {
	nan := math.NaN()
	for _, got := range [][]float64{{nan, 2, 3}, {1, 2, nan}, {1, nan, 300}, {math.Inf(1), 2, 3}} {
		for name, v := range map[string]verdict{"sums": sums(1e6), "pointwise": pointwise(1, 1), "exact": exact} {
			if v(BF16(), got, []float64{1, 2, 3}) == nil {
				t.Errorf("%s accepts %v", name, got)
			}
		}
	}
}
