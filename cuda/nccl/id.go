//go:build cuda

package nccl

// #include "layer.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// ID is what the ranks that join have in common: rank 0 makes it and the others get it from there. It is made for one
// joining.
type ID [128]byte

// AddressVariable is NCCL's own variable: with HOST:PORT in it, an address of rank 0's host, every rank makes the same
// id by itself, and rank 0 waits there for the others.
const AddressVariable = "NCCL_COMM_ID"

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

// At makes the id of ranks that have an address of rank 0's host in common, HOST:PORT, before any of them joins: all
// call it. It leaves the address in AddressVariable, where NCCL reads it when rank 0 joins.
func At(address string) (ID, error) {
	if err := os.Setenv(AddressVariable, address); err != nil {
		return ID{}, fmt.Errorf("nccl: %w", err)
	}
	return NewID()
}
