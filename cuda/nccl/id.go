//go:build cuda

package nccl

// #include "layer.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// NewID makes an id. It needs no card.
func NewID() (ID, error) {
	if err := Open(); err != nil {
		return ID{}, err
	}
	var number C.nmn_id
	err := check("make an id", C.nmn_nccl_unique_id(&number), nil)
	var id ID
	copy(id[:], unsafe.Slice((*byte)(unsafe.Pointer(&number)), len(id)))
	return id, err
}

// At makes the id of ranks that share an address of rank 0's host, HOST:PORT. All ranks call it before any of
// them joins. It stores the address in addressVariable, which NCCL reads when rank 0 joins.
func At(address string) (ID, error) {
	if err := os.Setenv(addressVariable, address); err != nil {
		return ID{}, fmt.Errorf("nccl: %w", err)
	}
	return NewID()
}
