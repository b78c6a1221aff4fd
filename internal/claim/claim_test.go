package claim

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nmn/internal/lock"
)

// silent makes claims whose holders are known by their signs of life alone, as those of other hosts are.
func silent(lease time.Duration) Options {
	return Options{Lease: lease, Wait: time.Minute, boot: "another system"}
}

func take(t *testing.T, path string, o Options) (*Claim, context.Context) {
	t.Helper()
	c, ctx, err := Take(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, ctx
}

func release(t *testing.T, c *Claim) {
	t.Helper()
	if err := c.Release(); err != nil {
		t.Error(err)
	}
}

// die ends the signs of life of a claim, and its lock, as the death of its process does.
func die(c *Claim) {
	c.end()
	c.beating.Wait()
	_ = c.file.Close()
}

func TestTake_OneHolderAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "claim")
		var holders, most, done atomic.Int32
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				for range 8 {
					c, _, err := Take(t.Context(), path, Options{Lease: time.Second, Wait: time.Minute})
					if err != nil {
						t.Error(err)
						return
					}
					if n := holders.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(40 * time.Millisecond) // as others pause, so that they look while it is released
					done.Add(1)
					holders.Add(-1)
					if err := c.Release(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if most.Load() != 1 || done.Load() != 48 {
			t.Errorf("%d holders at once, %d claims; want 1 and 48", most.Load(), done.Load())
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v is left (%v)", left, err)
		}
	})
}

func TestTake_SaysWhoHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "claim")
		c, _ := take(t, path, Options{})
		defer release(t, c)
		var told []lock.Holder
		_, _, err := Take(t.Context(), path, Options{Wait: 30 * time.Millisecond,
			Waiting: func(h lock.Holder) { told = append(told, h) }})
		var held *HeldError
		if !errors.As(err, &held) || !errors.Is(err, lock.ErrHeld) || held.Holder.PID != os.Getpid() {
			t.Errorf("%v, want an error that names this process", err)
		}
		if len(told) != 1 || told[0].PID != os.Getpid() {
			t.Errorf("told of %v, want once of this process", told)
		}
	})
}

// Locks end with their process at once; without them, the lease of a holder must run out.
func TestTake_TakesOverFromTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "claim")
		dead, _ := take(t, path, Options{})
		die(dead)
		began := time.Now()
		c, _ := take(t, path, Options{Wait: time.Minute})
		if d := time.Since(began); d > 0 {
			t.Errorf("took %v on one system", d)
		}
		die(c)
		const lease = 300 * time.Millisecond
		began = time.Now()
		c, _ = take(t, path, silent(lease))
		if d := time.Since(began); d <= lease || d > lease+lease/8 {
			t.Errorf("taken over after %v, want that soon after the lease of %v", d, lease)
		}
		release(t, c)
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
			t.Errorf("%v is left (%v)", left, err)
		}
	})
}

func TestTake_LeavesTheLivingAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "claim")
		const lease = 400 * time.Millisecond
		o := silent(lease)
		c, ctx := take(t, path, o)
		o.Wait, o.boot = 3*lease, "this system"
		if _, _, err := Take(t.Context(), path, o); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("%v, want a claim that is held as long as its holder lives", err)
		}
		if ctx.Err() != nil {
			t.Errorf("the holder lost it: %v", context.Cause(ctx))
		}
		release(t, c)
	})
}

func TestTake_ManyTakeOverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "claim")
		dead, _ := take(t, path, silent(time.Minute))
		die(dead)
		var holders atomic.Int32
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				o := silent(200 * time.Millisecond)
				o.boot = "this system"
				c, _, err := Take(t.Context(), path, o)
				if err != nil {
					t.Error(err)
					return
				}
				if holders.Add(1) != 1 {
					t.Error("two took it over")
				}
				time.Sleep(50 * time.Millisecond)
				holders.Add(-1)
				if err := c.Release(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// A holder that was stopped for longer than its lease, as a suspended machine is, learns that it has lost its claim.
func TestTake_TellsWhoLostIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "claim")
		const lease = 300 * time.Millisecond
		c, ctx := take(t, path, silent(lease))
		over, err := create(path, 2, "")
		if err != nil || over == nil {
			t.Fatal(over, err)
		}
		time.Sleep(lease)
		if !errors.Is(context.Cause(ctx), ErrLost) {
			t.Errorf("%v, want ErrLost", context.Cause(ctx))
		}
		release(t, c)
		if top, err := highest(path); err != nil || top != 2 {
			t.Errorf("the highest claim is %d (%v), want that of who took over", top, err)
		}
		if err := over.remove(1); err != nil {
			t.Error(err)
		}
	})
}

// What others find dead, and is released and claimed anew meanwhile, is not theirs.
func TestAttempt_LooksAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claim")
	dead, _ := take(t, path, silent(time.Minute))
	die(dead)
	seen, err := look(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name(path, 1)); err != nil {
		t.Fatal(err)
	}
	anew, _ := take(t, path, silent(time.Minute))
	defer release(t, anew)
	w := watcher{path: path, options: silent(time.Minute)}
	if c, err := w.follow(seen); c != nil || err != nil {
		t.Errorf("a new claim was taken over as if it were the one before (%v)", err)
	}
}

func TestTidy_RemovesWhatTheDeadLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claim")
	living, ctx := take(t, path, Options{})
	for range 2 {
		if err := Tidy(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if top, err := highest(path); top != 1 || err != nil || ctx.Err() != nil {
		t.Errorf("the claim of a living process is number %d (%v)", top, err)
	}
	die(living)
	if err := Tidy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if top, err := highest(path); top != 0 || err != nil {
		t.Errorf("number %d is left (%v)", top, err)
	}
	if err := Tidy(t.Context(), path); err != nil {
		t.Errorf("with nothing there: %v", err)
	}
}
