package scenes

import (
	"fmt"
	"strings"

	"nmn/internal/parallel"
	"nmn/internal/rng"
)

// maxMovingCaptions bounds the captions of a clip.
const maxMovingCaptions = 100

// MovingCaptions writes perClip captions of each clip of the moving scenes, as sentences. Each describes one
// frame, drawn at random, and omits and confuses words as human annotators do. The first five drawn give the
// labels of MakeMoving: the words of the vocabulary in them are exactly the words of Set.Captions. A caption
// without any content, as for a frame without objects, is not written, and another one is drawn. Caption c of
// clip i depends only on (Seed, Split, Frames, i, c).
func MovingCaptions(config MovingConfig, perClip int) (ids []string, captions [][]string, err error) {
	if err := config.Validate(); err != nil {
		return nil, nil, err
	}
	if perClip < 1 || perClip > maxMovingCaptions {
		return nil, nil, fmt.Errorf("moving scenes: %d captions of a clip, allowed are 1 to %d", perClip, maxMovingCaptions)
	}
	ids, captions = make([]string, config.N), make([][]string, config.N)
	streams := newMovingStreams(config)
	phrases := rng.Derive(config.Seed, "moving/"+config.Split+"/phrases")
	parallel.Each(config.N, func(i int) {
		frames := streams.clip(i).all()
		content, form := rng.New(streams.caption, i), rng.New(phrases, i)
		for len(captions[i]) < perClip { // each clip has frames with objects
			if described := frames[content.Intn(len(frames))].describe(&content); described != saysNothing {
				captions[i] = append(captions[i], described.sentence(&form))
			}
		}
		ids[i] = streams.id(i)
	})
	return ids, captions, nil
}

// saysNothing is a caption without any word of the vocabulary.
var saysNothing = sceneCaption{
	quantity: noWord,
	relation: noWord,
	company:  noWord,
	place:    noWord,
	focus:    silence,
	second:   silence,
}

// sentence writes the caption as a human annotator might, in a form that is drawn: "there is a small red ball
// above a box in the sand", "two things with a glowing star together". Its vocabulary words are exactly the
// classes of the caption.
func (c *sceneCaption) sentence(form *rng.Stream) string {
	opening := [...]string{"", "there is", "we see", "a picture of"}[form.Choice([]float64{5, 3, 1, 1})]
	first, second := c.focus.phrase(form), c.second.phrase(form)
	var parts []string
	say := func(words ...string) { parts = append(parts, words...) }
	if opening != "" {
		say(opening)
	}
	switch quantity := c.quantity != noWord; {
	case quantity && c.focus == silence:
		say(sceneWords[c.quantity], "things")
	case quantity:
		say(sceneWords[c.quantity], "things", "with", first)
	default:
		say(first)
	}
	switch {
	case c.relation != noWord:
		say(sceneWords[c.relation], second)
	case c.second != silence:
		say("and", second)
	}
	if c.company != noWord {
		say(sceneWords[c.company])
	}
	if c.place != noWord {
		say(placePhrase[c.place-wordGrass], sceneWords[c.place])
	}
	return strings.Join(parts, " ")
}

var placePhrase = [placeCount]string{"on the", "in the", "on the", "in the", "at"}

// phrase describes one object. A verb comes ahead of the noun or after it.
func (m *mention) phrase(form *rng.Stream) string {
	behind := form.Float64() < .5 // always drawn, so that the words do not change the form
	if *m == silence {
		return "something"
	}
	words := appendTexts(nil, m.size, m.colour, m.texture)
	if !behind {
		words = appendTexts(words, m.verb)
	}
	if m.noun == noWord {
		words = append(words, "thing")
	}
	words = appendTexts(words, m.noun)
	if behind {
		words = appendTexts(words, m.verb)
	}
	article := "a"
	if strings.ContainsRune("aeiou", rune(words[0][0])) {
		article = "an"
	}
	return article + " " + strings.Join(words, " ")
}
