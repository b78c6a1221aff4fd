//go:build !linux

package shm

import "errors"

const pageSize = 4096

func newFile(int64, []byte) (file, error) { return nil, errors.New("nmn shares memory on Linux alone") }

func unsee([]byte) error { return nil }

func forget([]byte) error { return nil }
