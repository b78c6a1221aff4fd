package tensor

import "fmt"

// fitCopy checks that a tensor can be copied to another.
func fitCopy(dst, src *Tensor) error {
	if dst.dtype != src.dtype || dst.size != src.size {
		return fmt.Errorf("copy: %s to %s: %w", src, dst, ErrShape)
	}
	return nil
}

// copyBlock is the number of bytes that a worker copies at a time.
const copyBlock = 256 << 10

// Copy implements Device. The workers share the blocks; a single one allocates nothing.
func (c *CPU) Copy(dst, src *Tensor) error {
	if err := fitCopy(dst, src); err != nil {
		return err
	}
	if dst.address != 0 || src.address != 0 {
		return fmt.Errorf("copy: %s to %s: not in host memory: %w", src, dst, ErrShape)
	}
	if blocks := Ceil(len(dst.host), copyBlock); blocks > 1 {
		c.Workers.Run(blocks, func(_, block int) {
			lo := block * copyBlock
			copy(dst.host[lo:min(lo+copyBlock, len(dst.host))], src.host[lo:])
		})
	} else {
		copy(dst.host, src.host)
	}
	return nil
}
