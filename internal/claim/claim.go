package claim

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nmn/internal/lock"
)

// ErrLost is the cause of a context whose claim another process has taken over.
var ErrLost = errors.New("claim: another process has taken the work over, because this one gave no sign of life for long")

// DefaultLease is how long a holder may be silent. Clients of NFS may show a time of change that is a minute old.
const DefaultLease = 3 * time.Minute

// Options say how long to wait for what others hold.
type Options struct {
	Lease time.Duration // how long a holder may give no sign of life; 0 for DefaultLease
	Wait  time.Duration // most time to wait for others; 0 for none
	// Waiting is called when the wait for a holder begins; nil for nobody.
	Waiting func(lock.Holder)

	boot string // in place of that of this system, for tests
}

// HeldError says who holds a claim for which Take has waited as long as it may. It wraps lock.ErrHeld.
type HeldError struct {
	Path   string
	Holder lock.Holder
	Waited time.Duration
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is still held by %v after %v", e.Path, e.Holder, e.Waited.Round(time.Millisecond))
}

// Unwrap makes the error one of a lock that is held.
func (e *HeldError) Unwrap() error { return lock.ErrHeld }

// Claim is work that this process does, and no other one.
type Claim struct {
	path       string // without its generation
	generation int
	token      string
	file       *os.File // stays open, and locked where there are locks
	end        context.CancelFunc
	beating    sync.WaitGroup
}

// record is what the file of a claim holds.
type record struct {
	lock.Holder
	Token string `json:"token"` // of this claim alone
	Boot  string `json:"boot"`  // of the running system of its holder; empty where that has no name
}

// Take makes a claim at path, waiting for those who hold it. The context that it returns ends, with ErrLost as its cause,
// when another process takes the claim over. The folder must be there. A claim that is still held after the time to wait
// is a *HeldError.
//
// The files of claims have numbers, as path-1: a claim of somebody who has died is taken over by making the next one,
// which only one process can, and not by removing a file, under whose name there may be a new claim by then.
func Take(ctx context.Context, path string, o Options) (*Claim, context.Context, error) {
	o.Lease = cmp.Or(o.Lease, DefaultLease)
	o.boot = cmp.Or(o.boot, bootID())
	w := watcher{path: path, options: o, began: time.Now()}
	for {
		c, err := w.attempt()
		if err != nil {
			return nil, nil, err
		}
		if c != nil {
			held, cancel := context.WithCancelCause(ctx)
			c.beat(held, cancel, o.Lease/8)
			return c, held, nil
		}
		if waited := time.Since(w.began); waited >= o.Wait {
			return nil, nil, &HeldError{Path: path, Holder: w.seen.Holder, Waited: waited}
		}
		if !w.told && o.Waiting != nil && w.seen.Token != "" {
			w.told = true
			o.Waiting(w.seen.Holder)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(w.pause()):
		}
	}
}

// Tidy removes a claim whose holder has died after its work was done, as far as that can be told without a wait.
func Tidy(ctx context.Context, path string) error {
	if top, err := highest(path); err != nil || top == 0 {
		return err
	}
	c, _, err := Take(ctx, path, Options{})
	if errors.Is(err, lock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.Release()
}

// watcher sees whether the holder of a claim lives.
type watcher struct {
	path    string
	options Options
	began   time.Time
	told    bool
	seen    sight
	since   time.Time // when seen was first seen
	polls   int
}

// sight is a claim as it was seen.
type sight struct {
	record
	generation int
	changed    time.Time
}

func (s sight) same(o sight) bool {
	return s.generation == o.generation && s.Token == o.Token && s.changed.Equal(o.changed)
}

// pause grows from a moment to some seconds: most waits are long, and a look costs the server of the folder a little.
func (w *watcher) pause() time.Duration {
	w.polls++
	return min(20*time.Millisecond<<min(w.polls, 8), w.options.Lease/8)
}

// attempt is one attempt at the claim; nil where it is held.
func (w *watcher) attempt() (*Claim, error) {
	now, err := look(w.path)
	if err != nil {
		return nil, err
	}
	if now.generation > 0 {
		if !now.same(w.seen) || w.since.IsZero() {
			w.seen, w.since = now, time.Now()
		}
		if time.Since(w.since) <= w.options.Lease && !w.died(now) {
			return nil, nil
		}
	}
	return w.follow(now)
}

// follow makes the claim after one that does not count any more; nil where another process was faster.
func (w *watcher) follow(dead sight) (*Claim, error) {
	c, err := create(w.path, dead.generation+1, w.options.boot)
	if c == nil || err != nil {
		return nil, err
	}
	// What was seen as dead may have been released since, and claimed anew under the same number or a lower one.
	still, err := sightOf(w.path, dead.generation)
	top, err2 := highest(w.path)
	if err = errors.Join(err, err2); err != nil || !still.same(dead) || top != c.generation {
		return nil, errors.Join(err, c.remove(c.generation))
	}
	return c, nil
}

// died reports whether the holder is a process of this running system that has ended: the system has unlocked its file.
func (w *watcher) died(s sight) bool {
	if s.Boot == "" || s.Boot != w.options.boot {
		return false
	}
	file, err := os.OpenFile(name(w.path, s.generation), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	err = lock.File(file)
	_ = file.Close()
	return err == nil
}

func name(path string, generation int) string { return fmt.Sprintf("%s-%d", path, generation) }

// highest is the greatest number of the claims at a path; 0 for none.
func highest(path string) (int, error) {
	all, err := generations(path)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return all[len(all)-1], nil
}

// generations are the numbers of the claims at a path, in order.
func generations(path string) (all []int, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		digits, ours := strings.CutPrefix(e.Name(), filepath.Base(path)+"-")
		if n, err := strconv.Atoi(digits); ours && err == nil && n > 0 && strconv.Itoa(n) == digits {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// look sees the claim that counts; its generation is 0 where there is none.
func look(path string) (sight, error) {
	top, err := highest(path)
	if err != nil {
		return sight{}, err
	}
	return sightOf(path, top)
}

// sightOf sees a claim of a number; its generation is 0 where there is none.
func sightOf(path string, generation int) (s sight, err error) {
	if generation == 0 {
		return s, nil
	}
	file, err := os.Open(name(path, generation)) // which has a client of NFS ask its server
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return s, err
	}
	content, err := io.ReadAll(io.LimitReader(file, 1<<16))
	if err != nil {
		return s, err
	}
	_ = json.Unmarshal(content, &s.record) // a holder may have died before it had written
	s.generation, s.changed = generation, info.ModTime()
	return s, nil
}

// create makes the claim of a number; nil where another process has.
func create(path string, generation int, boot string) (*Claim, error) {
	file, err := os.OpenFile(name(path, generation), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	c := &Claim{path: path, generation: generation, token: rand.Text(), file: file}
	if lock.File(file) != nil { // before there is a record, by which others see that it can be locked
		boot = ""
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	command := strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ")
	content, err := json.Marshal(record{Token: c.token, Boot: boot, Holder: lock.Holder{PID: os.Getpid(), Host: host,
		Command: command, Since: time.Now().Truncate(time.Second)}})
	if err == nil {
		_, err = file.Write(append(content, '\n'))
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write a claim: %w", err), c.remove(generation))
	}
	return c, nil
}

// Release gives the claim back.
func (c *Claim) Release() error {
	c.end()
	c.beating.Wait()
	return c.remove(1)
}

// remove closes the claim and removes its file, and before it those that it took over, from a number on: whoever saw
// these as dead must not find them where the claim is gone. A claim that was lost is left to who has it.
func (c *Claim) remove(from int) error {
	mine := c.mine()
	errs := []error{c.file.Close()} // first: some systems remove no file that is open
	all, err := generations(c.path)
	errs = append(errs, err)
	for _, n := range all {
		if n < from || n > c.generation || n == c.generation && !mine {
			continue
		}
		if err := os.Remove(name(c.path, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// mine reports whether the file of the claim is still the one that was made; one that could not be written is.
func (c *Claim) mine() bool {
	there, err := os.Stat(name(c.path, c.generation))
	if err != nil {
		return false
	}
	made, err := c.file.Stat()
	return err == nil && os.SameFile(there, made)
}
