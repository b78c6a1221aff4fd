package ranks_test

import (
	"testing"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
)

func TestTimeoutOf_IsThatOfTheGroup(t *testing.T) {
	if got := ranks.TimeoutOf(local.New(2, 3*time.Second)[1], time.Minute); got != 3*time.Second {
		t.Errorf("%v", got)
	}
	if got := ranks.TimeoutOf(local.New(2, 0)[0], time.Minute); got != 0 {
		t.Errorf("for ever is %v", got)
	}
	if got := ranks.TimeoutOf(ranks.Alone{}, time.Minute); got != time.Minute {
		t.Errorf("a group that does not say: %v", got)
	}
}
