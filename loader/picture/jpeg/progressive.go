package jpeg

// progressiveBlock takes the part of a block that a scan holds: the mean, or a band of coefficients, either their upper
// bits or one bit more (T.81, annex G). It returns false for a code that is in no table.
func (d *Decoder) progressiveBlock(part *scanPart, coefs *[64]int16) bool {
	s, r := &d.scan, &d.entropy.bitReader
	switch {
	case s.first == 0 && s.refines:
		r.Fill()
		coefs[0] |= int16(r.bits(1) << s.shift)
		return true
	case s.first == 0:
		r.Fill()
		size, ok := r.symbol(part.dc)
		if !ok || size > 16 {
			return false
		}
		part.mean += extend(r.bits(int(size)), int(size))
		coefs[0] = int16(part.mean << s.shift)
		return true
	case s.refines:
		return s.refineBand(r, part.ac, coefs)
	}
	return s.addBand(r, part.ac, coefs)
}

// addBand takes the upper bits of a band of coefficients.
func (s *scan) addBand(r *bitReader, ac *huffman, coefs *[64]int16) bool {
	if s.skip > 0 {
		s.skip--
		return true
	}
	for k := s.first; k <= s.last; k++ {
		r.Fill()
		symbol, ok := r.symbol(ac)
		if !ok {
			return false
		}
		run, size := int(symbol>>4), int(symbol&15)
		if size == 0 && run < 15 {
			s.skip = 1<<run - 1 + int(r.bits(run))
			return true
		}
		k += run
		value := extend(r.bits(size), size) << s.shift
		coefs[natural[uint8(k+1)]] = int16(value) // 0 after a run of 16, which writes nothing new
	}
	return true
}

// refineBand takes one bit more of the coefficients of a band that are not zero, and those that have been
// zero so far.
func (s *scan) refineBand(r *bitReader, ac *huffman, coefs *[64]int16) bool {
	k, bit := s.first, int16(1)<<s.shift
	if s.skip == 0 {
		for k <= s.last {
			r.Fill()
			symbol, ok := r.symbol(ac)
			if !ok || symbol&15 > 1 {
				return false
			}
			run, value := int(symbol>>4), int16(0)
			if symbol&15 == 0 && run < 15 {
				s.skip = 1<<run + int(r.bits(run))
				break
			}
			if symbol&15 == 1 {
				value = bit
				if r.bits(1) == 0 {
					value = -bit
				}
			}
			k = s.refineKnown(r, coefs, k, run, bit)
			if k > s.last {
				return false
			}
			if value != 0 {
				coefs[natural[k+1]] = value
			}
			k++
		}
	}
	if s.skip > 0 {
		s.skip--
		s.refineKnown(r, coefs, k, 64, bit)
	}
	return true
}

// refineKnown goes from coefficient k past the given number of zeros to the next, or to the end of the band.
// It takes a bit for each non-zero coefficient on its way, and returns its final position.
func (s *scan) refineKnown(r *bitReader, coefs *[64]int16, k, zeros int, bit int16) int {
	for ; k <= s.last; k++ {
		c := &coefs[natural[k+1]]
		if *c == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		r.Fill()
		switch refined := r.bits(1) != 0; {
		case refined && *c > 0:
			*c += bit
		case refined:
			*c -= bit
		}
	}
	return k
}
