//go:build linux || darwin || freebsd

package simd

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n values that end where a page begins that faults when it is read or written.
func fenced(t testing.TB, n int) []float32 {
	t.Helper()
	page := unix.Getpagesize()
	bytes := (4*n + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, bytes+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(memory) })
	if err := unix.Mprotect(memory[bytes:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[bytes-4*n])), n)
}
