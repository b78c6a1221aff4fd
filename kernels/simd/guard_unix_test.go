//go:build linux || darwin || freebsd

package simd

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n values that end at a page that faults when it is read or written.
func fenced(t testing.TB, n int) []float32 {
	t.Helper()
	page := unix.Getpagesize()
	bytes := (4*n + page - 1) / page * page
	memory := mapped(t, bytes+page)
	if err := unix.Mprotect(memory[bytes:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[bytes-4*n])), n)
}

// fencedFront returns n bytes that begin at the end of such a page.
func fencedFront(t testing.TB, n int) []uint8 {
	t.Helper()
	page := unix.Getpagesize()
	memory := mapped(t, page+n)
	if err := unix.Mprotect(memory[:page], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return memory[page:]
}

// mapped returns memory of its own pages.
func mapped(t testing.TB, bytes int) []byte {
	t.Helper()
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(memory) })
	return memory
}
