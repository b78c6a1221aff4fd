package text

import "strings"

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// titles never end a sentence as far as the tokenizer is concerned: "on Seventh St." ends in st.
var titles = set(`Mr Mrs Ms Dr Drs Prof Profs Sen Sens Rep Reps Gov Govs Gen Col Lt Lieut Maj Sgt Cpl Pvt
	Capt Adm Brig Rev Hon Pres Supt Messrs Msgr Mme Mlle Det Atty Asst Assoc St Ste Ave Mt Ft vs Wm Jos Alex`)

// endings may end a sentence; there the period counts twice: "on Morgan Rd." ends in rd. and a period.
var endings = set(`Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri
	Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Mass Md Mich Minn Mo Mont Neb Nev Okla Ore Pa
	Tenn Tex Va Wash Wis Wyo Inc Co Cos Corp Ltd Plc Dept Univ Rd Blvd Jr Sr Bros Esq etc al seq`)

// starters begin a new sentence after an acronym, whose period then counts twice.
var starters = set(`A About After All Also Although An And As At But By For From He Her Here His However If In
	It Its Many More Most No Now On Once One Other Our She Since So Some Such That The Their Then There These
	They This Those To Two We When While What With Yet You`)

// acronym emits single letters with periods between and after them (D.C.), if that is longer than the word
// that ends at end.
func (sc *scanner) acronym(i, end int) (int, bool) {
	j := i
	for isAlpha(sc.at(j)) && sc.at(j+1) == '.' {
		j += 2
	}
	if j < i+4 || j <= end {
		return 0, false
	}
	sc.emit(i, j)
	if sc.starter(j) {
		sc.add(".", j)
	}
	return j, true
}

// starter reports whether blanks and then a word that begins sentences follow at j.
func (sc *scanner) starter(j int) bool {
	k := j
	for k < len(sc.src) && isSpace(sc.src[k]) {
		k++
	}
	w := sc.letters(k)
	return k > j && w < len(sc.src) && isSpace(sc.src[w]) && starters[sc.src[k:w]]
}

// abbreviation emits the word that ends at end together with the period after it, if the word is an
// abbreviation or the sentence goes on with a comma, colon or semicolon.
func (sc *scanner) abbreviation(i, end int) (int, bool) {
	if sc.at(end) != '.' || letterAt(sc.src, i) == 0 {
		return 0, false
	}
	word := sc.src[i:end]
	switch c := sc.at(end + 1); {
	case titles[word], len(word) == 1 && isUpper(word[0]), c == ',' || c == ';' || c == ':':
		sc.emit(i, end+1)
	case endings[word]:
		sc.emit(i, end+1)
		if sc.sentenceEnds(end + 1) {
			sc.add(".", end+1)
		}
	case (word == "No" || word == "no") && isSpace(c) && isDigit(sc.at(end+2)):
		sc.emit(i, end+1)
	default:
		return 0, false
	}
	return end + 1, true
}

// sentenceEnds reports whether the caption ends at j, or a blank and then a capital or a second blank follow.
func (sc *scanner) sentenceEnds(j int) bool {
	if strings.TrimSpace(sc.src[j:]) == "" {
		return true
	}
	return isSpace(sc.src[j]) && (isSpace(sc.at(j+1)) || isUpper(sc.at(j+1)))
}
