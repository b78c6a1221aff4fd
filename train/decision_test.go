package train

import (
	"reflect"
	"testing"
)

func TestSurest_OneOfEachRowByItsKind(t *testing.T) {
	logits := []float32{1, -4, 2, 2, -3, 3}
	answers := []uint8{0, 1, 1, 1, 1, 0}
	for _, c := range []struct {
		name           string
		kind           func(float32, uint8) bool
		most, perClass int
		want           []Decision
	}{
		{"mistakes", Mistake, 8, 0, []Decision{{0, 1, 4}, {2, 0, 3}}},
		{"the surest mistake", Mistake, 1, 0, []Decision{{0, 1, 4}}},
		{"hits", Hit, 8, 0, []Decision{{1, 0, 2}}},
	} {
		if got := Surest(logits, answers, 2, c.kind, c.most, c.perClass); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	same := Surest([]float32{5, 1, 6, 1, 4, 7}, []uint8{1, 1, 1, 1, 1, 1}, 2, Hit, 8, 1)
	if !reflect.DeepEqual(same, []Decision{{2, 1, 7}, {1, 0, 6}}) {
		t.Errorf("one of each class: %+v", same)
	}
}
