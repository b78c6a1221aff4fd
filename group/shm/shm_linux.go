package shm

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"nmn/internal/memory"
)

var pageSize = os.Getpagesize()

// tokenBytes is the length of what stands behind the memory in its file.
const tokenBytes = 16

// memoryFile is a file without a name in memory.
type memoryFile struct {
	*os.File
	size  int64 // without the token
	named []byte
}

// newFile implements opener. A name is a token and a path: the path alone could be that of another file where processes
// have other views of /proc.
func newFile(size int64, named []byte) (file, error) {
	if named != nil {
		return openFile(size, named)
	}
	if err := memory.Check("weights and gradients that ranks hold together", size); err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("nmn", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := &memoryFile{File: os.NewFile(uintptr(fd), "memory of the ranks"), size: size}
	token := make([]byte, tokenBytes)
	rand.Read(token) // never fails
	_, err = f.WriteAt(token, size)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.named = fmt.Appendf(token, "/proc/%d/fd/%d", os.Getpid(), fd)
	return f, nil
}

// openFile opens the file of another process.
func openFile(size int64, named []byte) (file, error) {
	if len(named) < tokenBytes {
		return nil, errors.New("the memory of rank 0 has no name")
	}
	opened, err := os.OpenFile(string(named[tokenBytes:]), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	token := make([]byte, tokenBytes)
	if _, err = opened.ReadAt(token, size); err == nil && !bytes.Equal(token, named[:tokenBytes]) {
		err = fmt.Errorf("%s is another file here than for rank 0", opened.Name())
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return &memoryFile{File: opened, size: size}, nil
}

func (f *memoryFile) name() []byte { return f.named }
func (f *memoryFile) close() error { return f.Close() }

// reserve takes pages now: where there is no room for one that is written to later, the kernel ends the process.
func (f *memoryFile) reserve(from, to int64) error {
	for from < to {
		err := unix.Fallocate(int(f.Fd()), 0, from, to-from)
		if err == nil || !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fallocate", err)
		}
	}
	return nil
}

func (f *memoryFile) see(bytes int64) ([]byte, error) {
	if bytes == 0 {
		return nil, nil
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return memory, os.NewSyscallError("mmap", err)
}

func unsee(memory []byte) error {
	if len(memory) == 0 {
		return nil
	}
	return os.NewSyscallError("munmap", unix.Munmap(memory))
}

// forget gives back the pages of a part of the memory, for all who see it: it holds zeros again.
func forget(part []byte) error {
	if len(part) == 0 {
		return nil
	}
	return os.NewSyscallError("madvise", unix.Madvise(part, unix.MADV_REMOVE))
}
