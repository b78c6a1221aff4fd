//go:build linux

package inject

import "golang.org/x/sys/unix"

const native = unix.AUDIT_ARCH_AARCH64
