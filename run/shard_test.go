package run

import "testing"

func TestShard_RangesFollowOneAnother(t *testing.T) {
	for _, n := range []int{5, 7, 64, 1000} {
		at := 0
		for i := range 5 {
			from, to, err := Shard{i + 1, 5}.Range(n, "pictures")
			if err != nil || from != at || to <= from {
				t.Errorf("shard %d of 5 of %d elements: %d to %d, want from %d: %v", i+1, n, from, to, at, err)
			}
			at = to
		}
		if at != n {
			t.Errorf("the shards of %d elements end at %d", n, at)
		}
	}
	if from, to, err := (Shard{}).Range(9, "pictures"); from != 0 || to != 9 || err != nil {
		t.Errorf("without shards: %d to %d, %v", from, to, err)
	}
	if _, _, err := (Shard{1, 3}).Range(2, "pictures"); err == nil {
		t.Error("an empty shard is allowed")
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("2/4"); err != nil || s != (Shard{2, 4}) || s.String() != "2/4" {
		t.Errorf("2/4 is %v, %v", s, err)
	}
	for _, text := range []string{"", "2", "0/4", "5/4", "-1/4", "1/0", "a/4", "1/b", "1/2/3"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
