package tensor

import "fmt"

// fitCopy checks that a tensor can be copied to another.
func fitCopy(dst, src *Tensor) error {
	if dst.dtype != src.dtype || dst.size != src.size {
		return fmt.Errorf("copy: %s to %s: %w", src, dst, ErrShape)
	}
	return nil
}

// copyBlock is the number of elements that a worker copies at a time: some hundred kilobytes.
const copyBlock = 64 << 10

// Copy implements Device. The workers share the blocks; a single one allocates nothing.
func (c *CPU) Copy(dst, src *Tensor) error {
	if err := fitCopy(dst, src); err != nil {
		return err
	}
	if dst.address != 0 || src.address != 0 {
		return fmt.Errorf("copy: %s to %s: not in host memory: %w", src, dst, ErrShape)
	}
	if blocks := (dst.size + copyBlock - 1) / copyBlock; blocks > 1 {
		c.Workers.Run(blocks, func(_, block int) { copyElements(dst, src, block) })
	} else if blocks == 1 {
		copyElements(dst, src, 0)
	}
	return nil
}

// copyElements copies a block.
func copyElements(dst, src *Tensor, block int) {
	lo := block * copyBlock
	hi := min(lo+copyBlock, dst.size)
	switch {
	case dst.float32s != nil:
		copy(dst.float32s[lo:hi], src.float32s[lo:hi])
	case dst.int32s != nil:
		copy(dst.int32s[lo:hi], src.int32s[lo:hi])
	case dst.uint8s != nil:
		copy(dst.uint8s[lo:hi], src.uint8s[lo:hi])
	case dst.uint16s != nil:
		copy(dst.uint16s[lo:hi], src.uint16s[lo:hi])
	}
}
