package ranksuite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nmn/ranks"
)

// Cause is the message of the rank that aborts, in the cases that end a group.
const Cause = "its disk is full"

// Endings are the cases after which a group is over. Each needs a new group, of two ranks or more. In an
// implementation whose processes end with a message, the cases of an abort and of a late rank do not return.
func Endings() []Case {
	return []Case{
		{Name: "Abort", Run: abort, Ends: true},
		{Name: "Late", Run: late, Ends: true},
		{Name: "SumsOfOtherLengths", Run: sumsOfOtherLengths, Ends: true},
		{Name: "SumsOnOtherWires", Run: sumsOnOtherWires, Ends: true},
		{Name: "BroadcastsOfOtherLengths", Run: broadcastsOfOtherLengths, Ends: true},
		{Name: "OtherCalls", Run: otherCalls, Ends: true},
	}
}

// blames returns an error unless err blames the rank.
func blames(g ranks.Group, err error, rank int) error {
	var lost *ranks.LostError
	if !errors.As(err, &lost) || lost.Rank != rank || lost.Name != g.Names()[rank] {
		return fmt.Errorf("not rank %d is blamed, but: %v", rank, err)
	}
	return nil
}

// over returns an error if a call succeeds.
func over(g ranks.Group) error {
	_, gathering := g.Gather(nil)
	summing := sum(g, []float32{1}, ranks.Float32)
	if gathering == nil || summing == nil || g.Broadcast(nil) == nil || ranks.Agree(g, nil) == nil {
		return errors.New("a call succeeds after the end of the group")
	}
	g.Abort(errors.New("once more")) // does no harm
	return nil
}

// abort makes the last rank abort, from a separate goroutine, while the others wait.
func abort(g ranks.Group) error {
	last := g.Size() - 1
	if g.Rank() == last {
		done := make(chan struct{})
		go func() {
			time.Sleep(20 * time.Millisecond)
			g.Abort(errors.New(Cause))
			close(done)
		}()
		<-done
		return over(g)
	}
	_, err := g.Gather(nil)
	if wrong := blames(g, err, last); wrong != nil {
		return wrong
	}
	if !strings.Contains(err.Error(), Cause) {
		return fmt.Errorf("the cause is missing: %w", err)
	}
	return over(g)
}

// late has the last rank not come until the others have long given it up. The group has a timeout of a second or so.
func late(g ranks.Group) error {
	last := g.Size() - 1
	if g.Rank() == last {
		time.Sleep(20 * g.Timeout())
		return nil
	}
	err := sum(g, make([]float32, 10), ranks.Float32)
	if wrong := blames(g, err, last); wrong != nil {
		return wrong
	}
	if !errors.Is(err, ranks.ErrTimeout) {
		return fmt.Errorf("no timeout: %w", err)
	}
	return over(g)
}

func sumsOfOtherLengths(g ranks.Group) error {
	return refused(g, sum(g, make([]float32, 1000+g.Rank()), ranks.Float32))
}

func sumsOnOtherWires(g ranks.Group) error {
	wire := ranks.Float32
	if g.Rank() == 0 {
		wire = ranks.BFloat16
	}
	return refused(g, sum(g, make([]float32, 10), wire))
}

func broadcastsOfOtherLengths(g ranks.Group) error {
	return refused(g, g.Broadcast(make([]byte, 10+g.Rank())))
}

// otherCalls has the last rank make another call than the others.
func otherCalls(g ranks.Group) error {
	if g.Rank() == g.Size()-1 {
		return refused(g, g.Broadcast(make([]byte, 10)))
	}
	_, err := g.Gather(make([]byte, 10))
	return refused(g, err)
}

// refused requires an error, and no successful call after it.
func refused(g ranks.Group, err error) error {
	if err == nil {
		return errors.New("ranks that do not fit together are not refused")
	}
	return over(g)
}
