package ranks_test

import (
	"errors"
	"strings"
	"testing"

	"nmn/ranks"
	"nmn/ranks/local/localtest"
	"nmn/tools/ranksuite"
)

func TestAlone_KeepsTheContract(t *testing.T) {
	for name, err := range ranksuite.Run(ranks.Alone{}) {
		t.Errorf("%s: %v", name, err)
	}
	if ranks.Of(nil) != (ranks.Alone{}) {
		t.Error("no group is not a group of one")
	}
}

func TestAgree(t *testing.T) {
	for n := 1; n <= 4; n++ {
		localtest.Each(n, func(g ranks.Group) {
			for name, err := range ranksuite.Run(g) {
				if strings.HasPrefix(name, "Agree") {
					t.Errorf("%s, rank %d of %d: %v", name, g.Rank(), n, err)
				}
			}
			if got := ranks.Of(g); got != g {
				t.Errorf("%v is not the group", got)
			}
		})
	}
}

func TestAgree_BoundsWhatIsTold(t *testing.T) {
	long := errors.New("begin " + strings.Repeat("x", 1<<20))
	localtest.Each(2, func(g ranks.Group) {
		own := error(nil)
		if g.Rank() == 1 {
			own = long
		}
		err := ranks.Agree(g, own)
		if g.Rank() == 0 && (err == nil || len(err.Error()) > 5000 || !strings.Contains(err.Error(), "begin x")) {
			t.Errorf("rank 0 gets %d bytes", len(err.Error()))
		}
	})
}

func TestAgree_JoinsItsOwnErrorToTheGroups(t *testing.T) {
	broken := errors.New("its own")
	localtest.Each(2, func(g ranks.Group) {
		g.Abort(errors.New("the group's"))
		err := ranks.Agree(g, broken)
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "the group's") {
			t.Errorf("%v", err)
		}
		if _, err := ranks.Every(g, 1, nil); err == nil {
			t.Error("an exchange behind the end")
		}
	})
}
