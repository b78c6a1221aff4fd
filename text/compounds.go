package text

// compound reads a word or number that starts at i, whose letters and digits end at w, and that is followed
// by something other than a blank. It takes the longest form that fits.
func (sc *scanner) compound(i, w int) int {
	if end, ok := sc.contraction(i, w); ok {
		return end
	}
	end := max(w, sc.dotted(i, w), sc.hyphenated(i), sc.slashed(i), sc.number(i), sc.ampersand(i), sc.apostrophe(i, w))
	if next, ok := sc.acronym(i, end); ok {
		return next
	}
	if next, ok := sc.abbreviation(i, end); ok {
		return next
	}
	sc.word(i, end)
	return end
}

// contraction cuts n't from the verb before it: don't is do and n't.
func (sc *scanner) contraction(i, w int) (int, bool) {
	if sc.at(w) != '\'' || sc.at(w-1)|0x20 != 'n' || sc.at(w+1)|0x20 != 't' || letterAt(sc.src, w+2) > 0 {
		return 0, false
	}
	if w-1 > i {
		sc.emit(i, w-1)
	}
	sc.emit(w-1, w+2)
	return w + 2, true
}

// dotted joins words between which only a period, ! or ? stands: "park.One" is one token.
func (sc *scanner) dotted(i, w int) int {
	if letterAt(sc.src, i) == 0 {
		return w
	}
	for {
		if c := sc.at(w); (c != '.' && c != '!' && c != '?') || letterAt(sc.src, w+1) == 0 {
			return w
		}
		w = sc.run(w + 1)
	}
}

// hyphenated reads parts joined by single hyphens; a part may start with d', o' or l' (o'clock).
// A decimal number may be the first part: 2.5-inch.
func (sc *scanner) hyphenated(i int) int {
	end := max(sc.elided(i), sc.number(i))
	for sc.at(end) == '-' {
		part := sc.elided(end + 1)
		if part == end+1 {
			break
		}
		end = part
	}
	return end
}

// elided returns the end of the letters and digits at i, with d', o' or l' before at least two.
func (sc *scanner) elided(i int) int {
	switch sc.at(i) | 0x20 {
	case 'd', 'o', 'l':
		if n := letterAt(sc.src, i+2); sc.at(i+1) == '\'' && n > 0 && wordChar(sc.src, i+2+n) > 0 {
			return sc.run(i + 2)
		}
	}
	return sc.run(i)
}

// slashed reads two or three words joined by slashes, each with up to two hyphens.
func (sc *scanner) slashed(i int) int {
	end := sc.slashPart(i)
	for range 2 {
		if sc.at(end) != '/' {
			break
		}
		part := sc.slashPart(end + 1)
		if part == end+1 {
			break
		}
		end = part
	}
	return end
}

func (sc *scanner) slashPart(i int) int {
	end := sc.run(i)
	for range 2 {
		if end == i || sc.at(end) != '-' || letterAt(sc.src, end+1) == 0 {
			break
		}
		end = sc.letters(end + 1)
	}
	return end
}

// number returns the end of digits with inner points, colons and commas (3:15, 1,000, .5), or i.
func (sc *scanner) number(i int) int {
	end := sc.digits(i)
	for c := sc.at(end); (c == '.' || c == ':' || c == ',') && isDigit(sc.at(end+1)); c = sc.at(end) {
		end = sc.digits(end + 1)
	}
	return end
}

// mixedFraction returns the end of a number such as "1 1/2", or 0. It is one token, and its blank is a no-break space.
func (sc *scanner) mixedFraction(i int) int {
	whole := sc.digits(i)
	if whole == i || whole > i+4 || (sc.at(whole) != ' ' && sc.at(whole) != '-') {
		return 0
	}
	above := sc.digits(whole + 1)
	if above == whole+1 || above > whole+5 || sc.at(above) != '/' {
		return 0
	}
	below := sc.digits(above + 1)
	if below == above+1 || below > above+5 {
		return 0
	}
	return below
}

// ampersand reads capitals joined by & or +, such as B&W, and returns i if there are none.
func (sc *scanner) ampersand(i int) int {
	end := sc.capitals(i)
	if end == i {
		return i
	}
	for c := sc.at(end); (c == '&' || c == '+') && isUpper(sc.at(end+1)); c = sc.at(end) {
		end = sc.capitals(end + 1)
	}
	return end
}

func (sc *scanner) capitals(i int) int {
	for isUpper(sc.at(i)) {
		i++
	}
	return i
}
