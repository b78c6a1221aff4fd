package crossfit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

func grouped(t *testing.T, n, folds int, groups [][]int) *Plan {
	t.Helper()
	p, err := New(bagNames(n), folds, 9, groups)
	expect.OK(t, err)
	return p
}

// randomGroups are disjoint groups of 2 to 9 bags, about a third of all bags together.
func randomGroups(n int, seed uint64) (groups [][]int) {
	s := rng.New(seed)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	s.Shuffle(order)
	for at := 0; at < n/3; {
		size := 2 + int(s.Uint32()%8)
		groups = append(groups, order[at:at+size])
		at += size
	}
	return groups
}

// The plans were computed before there were groups.
func TestNew_WithoutGroupsDealsAsEver(t *testing.T) {
	p := grouped(t, 23, 5, nil)
	if got := fmt.Sprint(p.Fold); got != "[4 3 3 2 2 0 1 1 4 1 1 3 0 2 3 2 1 0 0 4 2 0 4]" || p.Groups != 0 {
		t.Errorf("23 bags are dealt %s, with %d groups", got, p.Groups)
	}
	digest := uint64(0)
	for _, fold := range plan(t, 5000, 7, 3).Fold {
		digest = digest*31 + uint64(fold)
	}
	if digest != 12084782951696029393 {
		t.Errorf("5000 bags are dealt otherwise: %d", digest)
	}
}

func TestNew_GroupsStayWhole(t *testing.T) {
	for seed := range uint64(20) {
		groups := randomGroups(200, seed)
		p := grouped(t, 200, 5, groups)
		together, largest := 0, 1
		for _, group := range groups {
			for _, bag := range group {
				if p.Fold[bag] != p.Fold[group[0]] {
					t.Errorf("seed %d: the group %v is in folds %d and %d", seed, group, p.Fold[group[0]], p.Fold[bag])
				}
			}
			together, largest = together+len(group), max(largest, len(group))
		}
		if p.Groups != len(groups) || p.Grouped != together {
			t.Errorf("seed %d: the plan has %d groups of %d bags, want %d of %d", seed, p.Groups, p.Grouped,
				len(groups), together)
		}
		var sizes []int
		for fold := range p.Folds {
			sizes = append(sizes, len(p.HeldOut(fold)))
		}
		if slices.Max(sizes)-slices.Min(sizes) > largest {
			t.Errorf("seed %d: folds of %v bags, the largest group has %d", seed, sizes, largest)
		}
		if again := grouped(t, 200, 5, groups); !reflect.DeepEqual(again, p) {
			t.Errorf("seed %d: the same groups are dealt otherwise", seed)
		}
	}
}

// Bags in no group even out what groups leave uneven.
func TestNew_SingleBagsBalanceFolds(t *testing.T) {
	p := grouped(t, 30, 3, [][]int{{0, 1, 2, 3, 4, 5, 6}, {10, 20}})
	for fold := range 3 {
		if n := len(p.HeldOut(fold)); n != 10 {
			t.Errorf("fold %d has %d bags, want 10", fold, n)
		}
	}
}

func TestNew_RefusesGroupsThatCannotBe(t *testing.T) {
	for name, groups := range map[string][][]int{
		"no such bag": {{1, 9}}, "below 0": {{-1, 2}}, "in two": {{0, 1}, {1, 2}}, "twice in one": {{3, 3}},
		"too few units": {{0, 1, 2, 3, 4}, {5, 6, 7, 8}},
	} {
		if _, err := New(bagNames(9), 3, 1, groups); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlan_GroupsComeBackFromTheFile(t *testing.T) {
	p := grouped(t, 12, 3, [][]int{{0, 4}, {5, 6, 11}})
	path := filepath.Join(t.TempDir(), "folds.json")
	expect.OK(t, p.WriteFile(path))
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"groups":2,"grouped_samples":5,`) {
		t.Errorf("%s, %v", text, err)
	}
	if got, err := ReadFile(path); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v, want %+v", got, err, p)
	}
	const wrong = `{"format":"nmn folds 1","seed":1,"folds":2,"groups":3,"grouped_samples":2,` +
		`"samples":[{"id":"a","fold":0},{"id":"b","fold":1}]}`
	if _, err := Read(strings.NewReader(wrong), "x"); !errors.Is(err, ErrPlan) {
		t.Errorf("3 groups of 2 bags: %v", err)
	}
}
