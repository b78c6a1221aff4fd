package ranks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"nmn/internal/lock"
)

// roomPattern matches the temporary folders of ranks.
const roomPattern = "nmn-rank*-*"

// roomLock is the lock of such a folder, held as long as its process lives.
const roomLock = "held.lock"

// Room makes a temporary folder for what a rank writes while rank 0 has the one that people see. release removes it. A
// process that is killed leaves its folder, and the next Room on that host takes it away.
func Room(rank int) (dir string, release func() error, err error) {
	sweep(os.TempDir(), time.Now().Add(-time.Minute))
	if dir, err = os.MkdirTemp("", fmt.Sprintf("nmn-rank%d-", rank)); err != nil {
		return "", nil, err
	}
	held, err := lock.Take(filepath.Join(dir, roomLock))
	if errors.Is(err, lock.ErrUnsupported) { // then nobody takes it away either
		return dir, func() error { return os.RemoveAll(dir) }, nil
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(held.Release(), os.RemoveAll(dir)) }, nil
}

// sweep removes folders of ranks that nobody holds and that were made before a moment: a younger one may be about to be
// locked. What cannot be removed, such as another user's, stays.
func sweep(folder string, before time.Time) {
	rooms, _ := filepath.Glob(filepath.Join(folder, roomPattern)) // fails for a wrong pattern alone
	for _, room := range rooms {
		info, err := os.Lstat(room)
		if err != nil || !info.IsDir() || !info.ModTime().Before(before) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(room, roomLock)); err != nil { // not one of ours
			continue
		}
		held, err := lock.Take(filepath.Join(room, roomLock))
		if err != nil {
			continue
		}
		_ = held.Release()
		_ = os.RemoveAll(room)
	}
}
