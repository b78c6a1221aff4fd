package captioner

import (
	"encoding/json"
	"errors"
	"fmt"

	"nmn/group"
	"nmn/run"
	"nmn/run/ranks"
)

// Several ranks train a captioner together: they make the same calls of the session with the same arguments. Rank 0 owns
// the run folder; the others have a temporary one for the stubs of checkpoints, and hear of rank 0 what it found there.

// ranks are those that do the work of the session; a single one where there are no others.
func (s *Session) ranks() group.Group { return group.Of(s.Group) }

// leads reports whether this rank has the run folder.
func (s *Session) leads() bool { return s.ranks().Rank() == 0 }

// lead calls f on rank 0 alone. Its error is one of all ranks.
func (s *Session) lead(f func() error) error {
	var err error
	if s.leads() {
		err = f()
	}
	return group.Agree(s.ranks(), err)
}

// hear gives all ranks what rank 0 says, which travels as JSON.
func hear[T any](s *Session, value *T) error {
	if s.ranks().Size() == 1 {
		return nil
	}
	var own []byte
	var err error
	if s.leads() {
		own, err = json.Marshal(value)
	}
	all, err := group.Exchange(s.ranks(), own, err)
	if err != nil || s.leads() {
		return err
	}
	return json.Unmarshal(all[0], value)
}

// compare refuses ranks of another program, or with other settings, words or data.
func (s *Session) compare(identity string, err error) error {
	if s.ranks().Size() == 1 {
		return err
	}
	b := run.ThisBuild()
	return group.Alike(s.ranks(), fmt.Sprintf("version %s (%s, %s, %s), settings and data %.16s", b.Version, b.Revision,
		b.Platform, b.SIMD, identity), err)
}

// takeFolder keeps other processes out of the run folder. The ranks that do not lead are given one that is theirs, until
// release is called.
func (s *Session) takeFolder(dir string) (own string, release func() error, err error) {
	if s.leads() {
		own = dir
		release, err = run.LockFolder(dir, s.Log)
	} else {
		own, release, err = ranks.Room(s.ranks().Rank())
	}
	if agreed := group.Agree(s.ranks(), err); agreed != nil {
		if err == nil {
			agreed = errors.Join(agreed, release())
		}
		return "", nil, agreed
	}
	return own, release, nil
}
