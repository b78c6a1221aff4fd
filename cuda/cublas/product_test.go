package cublas

import "testing"

func TestProduct_CheckedAndNamed(t *testing.T) {
	p := Product{Rows: 2, Inner: 3, Columns: 4, TransposeA: true, Bias: true, Precision: BFloat16, Wide: true}
	if got, want := p.String(), "2×3ᵀ by 3×4 + bias bf16 to fp32"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := p.check(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Product){
		func(p *Product) { p.Rows = 0 }, func(p *Product) { p.Inner = -1 }, func(p *Product) { p.Columns = 1<<30 + 1 },
		func(p *Product) { p.Precision = 3 },
	} {
		bad := p
		if change(&bad); bad.check() == nil {
			t.Errorf("%v is no product", bad)
		}
	}
}

func TestWay_RefusesWhatCannotBeOne(t *testing.T) {
	good := Way{Algorithm: [8]uint64{5}, Workspace: 1024}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, w := range []Way{{Workspace: 1}, {Algorithm: good.Algorithm, Workspace: -1}, {Algorithm: good.Algorithm,
		Workspace: maxWorkspace + 1}} {
		if w.Check() == nil {
			t.Errorf("%v passes", w)
		}
	}
}
