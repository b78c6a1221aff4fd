// Package inject runs a program and makes chosen system calls of it fail, come late or never return. It needs
// no help from the program, which may be static. The kernel asks this process about each call that changes
// files (seccomp user notification, Linux 5.5 or newer). No privilege is needed.
//
// strace(1) cannot do that. It counts the calls of each thread separately, and goroutines change threads, so
// that no call can be identified by its number. It cannot make half of a write, or fail calls for a time or
// from the save of one file on.
//
// A program that imports the package starts itself again as a stub, which installs the filter and then
// becomes the program under test. On systems other than Linux, and processors other than amd64 and arm64, the
// package is empty.
package inject
