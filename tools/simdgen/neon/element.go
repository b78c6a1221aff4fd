package neon

import (
	"fmt"
	"math"
	"strings"
)

// element is the body of an elementwise loop at work on count float32 of each array.
type element struct {
	*kernel
	pointers []register
	scalars  map[string]vector
	numbers  map[float32]vector
	count    int // 16, 8, 4 or 1
}

// elementwise writes a function over arrays of float32, at most 16 or 8 at once, with scalars and numbers in
// all lanes. No product is fused with a sum that would be rounded otherwise: every level, and the Go twin,
// give the same bits.
func elementwise(f *file, name string, most int, arrays, scalars []string, numbers []float32, body func(e *element)) {
	signature := "func(" + strings.Join(arrays, ", ") + " *float32, "
	if len(scalars) > 0 {
		signature += strings.Join(scalars, ", ") + " float32, "
	}
	f.function(name+"NEON", signature+"count int)", func(k *kernel) {
		e := &element{kernel: k, scalars: map[string]vector{}}
		for _, array := range arrays {
			e.pointers = append(e.pointers, k.load(array))
		}
		for _, scalar := range scalars {
			e.scalars[scalar] = k.loadAll(scalar)
		}
		count := k.load("count")
		e.readNumbers(name+"Numbers", numbers)
		k.walkBy(most, "element", count, func(n int) {
			e.count = n
			body(e)
			for _, p := range e.pointers {
				k.op("ADD $%d, R%d, R%d", 4*n, p, p)
			}
		})
	})
}

// readNumbers reads numbers into vectors of their own, in all lanes.
func (e *element) readNumbers(name string, numbers []float32) {
	e.numbers = map[float32]vector{}
	if len(numbers) == 0 {
		return
	}
	vectors := e.grid(1, len(numbers))[0]
	for i, x := range numbers {
		e.numbers[x] = vectors[i]
	}
	e.scope(func() { e.fill(vectors, e.constant(name, inAllLanes(numbers)...), lanes*len(numbers)) })
}

// get reads from an array, and put writes to it.
func (e *element) get(array int) []vector    { return e.peek(e.pointers[array], e.count) }
func (e *element) put(array int, x []vector) { e.spill(x, e.pointers[array], e.count) }

// number is the vector of a number in all lanes.
func (e *element) number(x float32) vector {
	v, ok := e.numbers[x]
	if !ok {
		panic(fmt.Sprintf("the kernel did not read %v", x))
	}
	return v
}

// of returns the results of an instruction in new vectors.
func (e *element) of(op string, operands ...any) []vector {
	results := e.grid(1, (e.count+lanes-1)/lanes)[0]
	e.each(op, results, operands...)
	return results
}

// each writes an instruction for each result. An operand is a row of vectors, or the same for all.
func (k *kernel) each(op string, results []vector, operands ...any) {
	for i, result := range results {
		all := []any{result}
		for _, o := range operands {
			if row, ok := o.([]vector); ok {
				o = row[i]
			}
			all = append(all, o)
		}
		k.v(op, all...)
	}
}

// free returns vectors that the rest of the scope does not need.
func (k *kernel) free(rows ...[]vector) {
	for _, row := range rows {
		for _, v := range row {
			delete(k.vectors, v)
		}
	}
}

func (e *element) addProduct(a []vector, scalar string, x []vector) []vector {
	r := e.of("fmul.4s", x, e.scalars[scalar])
	e.each("fadd.4s", r, a, r)
	return r
}

// positive sets x to 0 unless top > 0.
func (e *element) positive(top, x []vector) {
	m := e.of("fcmgt.4s.0", top)
	e.each("and.16b", x, x, m)
	e.free(m)
}

// part returns left if a equals b, else 0, and sets left to 0 if so.
func (e *element) part(a, b, left []vector) []vector {
	m := e.of("fcmeq.4s", a, b)
	x := e.of("and.16b", left, m)
	e.each("bic.16b", left, left, m)
	e.free(m)
	return x
}

// largest returns the maximum of arrays, NaN if one of them is NaN.
func (e *element) largest(x ...[]vector) []vector {
	most := x[0]
	for _, y := range x[1:] {
		e.each("fmax.4s", most, most, y)
	}
	return most
}

// elementwiseKernels writes the loops of package simd's elementwise.go. Package simd documents each.
func elementwiseKernels(f *file) {
	elementwise(f, "scale", 16, []string{"x"}, []string{"a"}, nil, func(e *element) {
		e.put(0, e.of("fmul.4s", e.get(0), e.scalars["a"]))
	})
	elementwise(f, "addScaled", 16, []string{"dst", "src"}, []string{"a"}, nil, func(e *element) {
		e.put(0, e.addProduct(e.get(0), "a", e.get(1)))
	})
	elementwise(f, "relu", 16, []string{"dst", "src"}, nil, nil, func(e *element) {
		x := e.get(1)
		e.each("bic.16b", x, x, e.of("fcmle.4s", x))
		e.put(0, x)
	})
	elementwise(f, "reluGrad", 16, []string{"dst", "grad", "y"}, nil, nil, func(e *element) {
		x := e.get(1)
		e.positive(e.get(2), x)
		e.put(0, x)
	})
	elementwise(f, "maxOfFour", 16, []string{"dst", "x0", "x1", "x2", "x3"}, nil, nil, func(e *element) {
		e.put(0, e.largest(e.largest(e.get(1), e.get(2)), e.largest(e.get(3), e.get(4))))
	})
	for _, relu := range []bool{false, true} {
		name := "scatterMax"
		if relu {
			name += "ReLU"
		}
		arrays := []string{"d0", "d1", "d2", "d3", "x0", "x1", "x2", "top", "grad"}
		elementwise(f, name, 16, arrays, nil, nil, func(e *element) { scatterMax(e, relu) })
	}
	elementwise(f, "sgd", 16, []string{"weight", "gradient", "first"}, []string{"lr", "momentum", "decay"}, nil, sgd)
	for _, decoupled := range []bool{false, true} {
		name := "adam"
		if decoupled {
			name += "W"
		}
		elementwise(f, name, 8, []string{"weight", "gradient", "first", "second"},
			[]string{"lr", "decay", "beta1", "rest1", "beta2", "rest2", "correct1", "correct2", "epsilon"}, nil,
			func(e *element) { adam(e, decoupled) })
	}
	elementwise(f, "approach", 16, []string{"dst", "src"}, []string{"share"}, nil, func(e *element) {
		x := e.get(0)
		e.put(0, e.addProduct(x, "share", e.of("fsub.4s", e.get(1), x)))
	})
}

func scatterMax(e *element, relu bool) {
	top, left := e.get(7), e.get(8)
	if relu {
		e.positive(top, left)
	}
	var parts [3][]vector
	for i := range parts {
		x := e.get(4 + i)
		parts[i] = e.part(x, top, left)
		e.free(x)
	}
	e.put(3, left)
	for i := 2; i >= 0; i-- {
		e.put(i, parts[i])
	}
}

func sgd(e *element) {
	w, m := e.get(0), e.get(2)
	g := e.addProduct(e.get(1), "decay", w)
	e.each("fmul.4s", m, m, e.scalars["momentum"])
	e.each("fadd.4s", m, m, g)
	e.put(2, m)
	e.each("fmul.4s", m, m, e.scalars["lr"])
	e.each("fsub.4s", w, w, m)
	e.put(0, w)
}

// adam is Adam, whose decay joins the gradient, or with decoupled decay AdamW, whose decay joins the step.
func adam(e *element, decoupled bool) {
	w, g, m, v := e.get(0), e.get(1), e.get(2), e.get(3)
	if !decoupled {
		g = e.addProduct(g, "decay", w)
	}
	e.each("fmul.4s", m, m, e.scalars["beta1"])
	m = e.addProduct(m, "rest1", g)
	e.put(2, m)
	square := e.of("fmul.4s", g, e.scalars["rest2"])
	e.each("fmul.4s", square, square, g)
	e.each("fmul.4s", v, v, e.scalars["beta2"])
	e.each("fadd.4s", v, v, square)
	e.put(3, v)
	e.each("fmul.4s", v, v, e.scalars["correct2"])
	e.each("fsqrt.4s", v, v)
	e.each("fadd.4s", v, v, e.scalars["epsilon"])
	e.each("fmul.4s", m, m, e.scalars["correct1"])
	if decoupled {
		e.each("fdiv.4s", m, m, v)
		m = e.addProduct(m, "decay", w)
		e.each("fmul.4s", m, m, e.scalars["lr"])
	} else {
		e.each("fmul.4s", m, m, e.scalars["lr"])
		e.each("fdiv.4s", m, m, v)
	}
	e.each("fsub.4s", w, w, m)
	e.put(0, w)
}

// inAllLanes are the bits of numbers, each as often as a vector has lanes.
func inAllLanes(numbers []float32) []uint32 {
	var words []uint32
	for _, x := range numbers {
		for range lanes {
			words = append(words, math.Float32bits(x))
		}
	}
	return words
}
