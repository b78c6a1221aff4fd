package tensor

import (
	"testing"
	"time"
)

func TestPatience_EndsAndLearns(t *testing.T) {
	p := patience{limit: mostPatience}
	never := func() bool { return false }
	if p.look(never) {
		t.Fatal("what never happens has happened")
	}
	p.since = time.Now().Add(-time.Second)
	for range 10 {
		p.slept()
	}
	if p.limit != leastPatience {
		t.Fatalf("after long waits it looks for %v, want %v", p.limit, leastPatience)
	}
	p.since = time.Now().Add(time.Hour) // nothing is sooner
	for range 10 {
		p.slept()
	}
	if p.limit != mostPatience {
		t.Fatalf("after short waits it looks for %v, want %v", p.limit, mostPatience)
	}
	p.limit = time.Hour // a busy machine may use all of mostPatience between two looks
	if looks := 0; !p.look(func() bool { looks++; return looks == 2 }) || looks != 2 {
		t.Fatalf("what happens at the second look was seen at %d", looks)
	}
}

// If goroutines outnumber processors, spinning would block the goroutines that could end the wait.
func TestPatience_NoneWithoutALimit(t *testing.T) {
	var p patience
	looks := 0
	if p.look(func() bool { looks++; return false }) || looks != 1 {
		t.Fatalf("%d looks, want one", looks)
	}
	if p.slept(); p.limit != 0 {
		t.Fatalf("it has learned to look for %v", p.limit)
	}
}
