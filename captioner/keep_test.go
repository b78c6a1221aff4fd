package captioner

import (
	"reflect"
	"testing"
)

func TestSet_KeepLeavesCaptionsOut(t *testing.T) {
	s := &Set{clips: []int{4, 7, 9}, ids: [][][]int32{{{3, 5}, {4}}, {{5, 5, 3}}, {{900}, {}}},
		texts: [][]string{{"a", "b"}, {"c"}, {"d", "e"}}}
	first := s.ids[0][0][0]
	mentions := s.Mentions(5)
	if got := mentions[1][0]; len(got) != 2 || got[0] >= got[1] || got[0] != mentions[0][0][0] {
		t.Errorf("word ids %d are classes %d", s.ids[1][0], got)
	}
	if len(mentions[2][0]) != 0 || len(mentions[2]) != 2 {
		t.Errorf("rare words: %d", mentions[2])
	}
	kept := s.Keep([][]bool{{false, true}, {false}, {true, true}})
	if !reflect.DeepEqual(kept.clips, []int{4, 9}) || !reflect.DeepEqual(kept.ids, [][][]int32{{{4}}, {{900}, {}}}) ||
		!reflect.DeepEqual(kept.texts, [][]string{{"a", "b"}, {"d", "e"}}) {
		t.Errorf("kept %d, %d, %q", kept.clips, kept.ids, kept.texts)
	}
	if s.ids[0][0][0] != first || s.Pairs() != 5 || kept.Pairs() != 3 {
		t.Errorf("%d of %d captions", kept.Pairs(), s.Pairs())
	}
	if s.Keep([][]bool{{false, false}, {false}, {false, false}}) != nil {
		t.Error("no clip is left, and there is a set")
	}
}
