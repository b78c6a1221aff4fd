package durable

import (
	"fmt"
	"os"
	"sync"
)

// mostWaiting is how many bytes of entries a Journal holds while they cannot be written.
const mostWaiting = 1 << 20

// Journal is a file to which whole entries are appended, such as the lines of a log. Entries that cannot be
// written, because the disk is full for a while, wait in memory and are written with later ones. The file
// never holds a part of an entry, unless the process is killed within a write. Several goroutines may use it.
type Journal struct {
	mutex   sync.Mutex
	file    journalFile
	lost    func(entries int) []byte
	size    int64 // of the whole entries in the file
	torn    bool  // a part of an entry may follow them
	waiting [][]byte
	bytes   int // size of the waiting entries
	dropped int
	err     error // why entries wait
}

// journalFile is the part of os.File that a Journal uses. It is open for appending.
type journalFile interface {
	Write([]byte) (int, error)
	Truncate(size int64) error
	Close() error
}

// OpenJournal appends to a file, which it creates if needed. flags are flags of os.OpenFile in addition to
// those for appending. When more than 1 MiB waits, the oldest entries are dropped. lost makes the entry that
// replaces them, or is nil.
func OpenJournal(path string, flags int, lost func(entries int) []byte) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|flags, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, file.Close())
	}
	return &Journal{file: file, size: info.Size(), lost: lost}, nil
}

// Write takes an entry. It returns no error: Flush and Close return errors of writing if these persist.
func (j *Journal) Write(entry []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.append(append([]byte(nil), entry...))
	for j.bytes > mostWaiting && len(j.waiting) > 1 {
		j.bytes -= len(j.waiting[0])
		j.waiting, j.dropped = j.waiting[1:], j.dropped+1
	}
	j.flush()
	return len(entry), nil
}

func (j *Journal) append(entry []byte) {
	j.waiting, j.bytes = append(j.waiting, entry), j.bytes+len(entry)
}

// Flush writes the waiting entries, and returns the error if it cannot.
func (j *Journal) Flush() error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.flush()
	return j.problem()
}

func (j *Journal) flush() {
	if j.torn {
		if j.err = j.file.Truncate(j.size); j.err != nil {
			return
		}
		j.torn = false
	}
	if j.dropped > 0 && j.lost != nil {
		entry := j.lost(j.dropped)
		if j.err = j.put(entry); j.err != nil {
			return
		}
		j.dropped = 0
	}
	for len(j.waiting) > 0 {
		if j.err = j.put(j.waiting[0]); j.err != nil {
			return
		}
		j.bytes -= len(j.waiting[0])
		j.waiting = j.waiting[1:]
	}
	j.err = nil
}

// put writes an entry as a whole, or removes the part that it has written.
func (j *Journal) put(entry []byte) error {
	n, err := j.file.Write(entry)
	if err == nil {
		j.size += int64(len(entry))
		return nil
	}
	j.torn = n > 0 && j.file.Truncate(j.size) != nil
	return err
}

func (j *Journal) problem() error {
	switch {
	case j.err != nil:
		return fmt.Errorf("%d entries could not be written: %w", len(j.waiting)+j.dropped, j.err)
	case j.dropped > 0:
		return fmt.Errorf("%d of the entries that waited for room are lost", j.dropped)
	}
	return nil
}

// Close writes the waiting entries and closes the file. The error names entries that could not be written.
func (j *Journal) Close() error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.flush()
	closing := j.file.Close()
	if err := j.problem(); err != nil {
		return err
	}
	return closing
}
