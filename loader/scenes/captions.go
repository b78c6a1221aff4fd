package scenes

import (
	"math"
	"slices"
	"strings"

	"nmn/internal/rng"
)

// sceneCaption is one simulated annotator's caption of a scene. Fields are classes, or noWord if not
// mentioned.
type sceneCaption struct {
	quantity, relation, company, place int32
	focus, second                      mention
}

// mention is a caption's description of one object.
type mention struct{ size, colour, texture, noun, verb int32 }

var silence = mention{size: noWord, colour: noWord, texture: noWord, noun: noWord, verb: noWord}

// attention is the share of an object that annotators describe, by place: less if it is hard to see.
var attention = [placeCount]float64{1, 1, .7, .4, .2}

// Words that annotators confuse with others.
var (
	confusedNoun   = map[int32]int32{wordRing: wordBall, wordCross: wordStar, wordHeart: wordBall, wordTent: wordStar}
	confusedColour = map[int32]int32{wordPurple: wordBlue, wordOrange: wordRed}
)

// drawWord draws whether a word that is true is mentioned, with the given probability.
func drawWord(s *rng.Stream, word int32, probability float64) int32 {
	if spoken := s.Float64() < probability; spoken {
		return word
	}
	return noWord
}

// describe draws a caption.
func (s *scene) describe(stream *rng.Stream) sceneCaption {
	caption := sceneCaption{focus: silence, second: silence, relation: noWord}
	focus, second := s.choose(stream)
	if focus >= 0 {
		caption.focus = s.mention(stream, focus, 1)
	}
	if second >= 0 {
		caption.second = s.mention(stream, second, .5)
		caption.relation = drawWord(stream, s.relation(focus, second), .7)
	}
	placeRate, quantityRate, companyRate := .35, .3, .3
	if s.place == wordSky {
		placeRate = .25
	}
	quantity, company := s.quantity(), s.company()
	if quantity == wordMany {
		quantityRate = .4
	}
	if company == wordTogether {
		companyRate = .25
	}
	caption.place = drawWord(stream, s.place, placeRate)
	caption.quantity = drawWord(stream, quantity, quantityRate)
	caption.company = drawWord(stream, company, companyRate)
	return caption
}

// choose draws the object that a caption is about and, half of the time, a second one; -1 for none.
// Large and glowing objects catch the eye.
func (s *scene) choose(stream *rng.Stream) (focus, second int) {
	var weights [maxObjects]float64
	indices, count := s.seenObjects()
	for _, i := range indices[:count] {
		weights[i] = math.Pow(float64(s.objects[i].visible), .7)
		if s.objects[i].verb == wordGlowing {
			weights[i] *= 1.5
		}
	}
	if count == 0 {
		return -1, -1
	}
	focus, second = stream.Choice(weights[:]), -1
	if count > 1 && stream.Float64() < .5 {
		weights[focus] = 0
		second = stream.Choice(weights[:])
	}
	return focus, second
}

// mention draws the description of object i: attributes at rates that scale with the attention it gets, and
// sometimes a wrong word.
func (s *scene) mention(stream *rng.Stream, i int, scale float64) mention {
	object := &s.objects[i]
	scale *= attention[s.place-wordGrass]
	colourRate, confuseNoun, confuseColour := .65*scale, .05, .05
	if object.colour == typicalColour[object.shape] {
		colourRate *= .2 // annotators do not mention that grass is green
	}
	if object.size == wordSmall {
		confuseNoun = .10
	}
	if s.place == wordNight {
		confuseColour = .10
	}
	noun, colour := object.shape, object.colour
	if wrong, ok := confusedNoun[noun]; ok && stream.Float64() < confuseNoun {
		noun = wrong
	}
	if wrong, ok := confusedColour[colour]; ok && stream.Float64() < confuseColour {
		colour = wrong
	}
	return mention{
		noun:    drawWord(stream, noun, .95),
		colour:  drawWord(stream, colour, colourRate),
		texture: drawWord(stream, object.texture, .55*scale),
		size:    drawWord(stream, object.size, .45*scale),
		verb:    drawWord(stream, object.verb, .60*scale),
	}
}

// appendWords appends the classes that the caption mentions, sorted and each once.
func (c *sceneCaption) appendWords(words []int32) []int32 {
	start := len(words)
	for _, word := range [...]int32{
		c.quantity, c.relation, c.company, c.place,
		c.focus.size, c.focus.colour, c.focus.texture, c.focus.noun, c.focus.verb,
		c.second.size, c.second.colour, c.second.texture, c.second.noun, c.second.verb,
	} {
		if word != noWord {
			words = append(words, word)
		}
	}
	slices.Sort(words[start:])
	return words[:start+len(slices.Compact(words[start:]))]
}

// appendTexts appends the words of classes.
func appendTexts(words []string, classes ...int32) []string {
	for _, class := range classes {
		if class != noWord {
			words = append(words, sceneWords[class])
		}
	}
	return words
}

// String writes the caption as text: "two small red ball glowing above box together in the sand". Its
// vocabulary words are exactly the classes of the caption; one that mentions nothing reads "a picture".
func (c *sceneCaption) String() string {
	var words []string
	say := func(classes ...int32) { words = appendTexts(words, classes...) }
	say(c.quantity, c.focus.size, c.focus.colour, c.focus.texture, c.focus.noun, c.focus.verb)
	if c.relation == noWord && c.second != silence && len(words) > 0 {
		words = append(words, "and")
	}
	say(c.relation, c.second.size, c.second.colour, c.second.texture, c.second.noun, c.second.verb, c.company)
	if c.place != noWord {
		words = append(words, "in", "the", sceneWords[c.place])
	}
	if len(words) == 0 {
		return "a picture"
	}
	return strings.Join(words, " ")
}
