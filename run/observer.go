package run

import (
	"errors"
	"fmt"

	"nmn/recipe"
	"nmn/train"
)

// ErrInterrupted ends work that its context has ended, after what was done has been saved.
var ErrInterrupted = errors.New("interrupted")

// Interrupted makes the error of a trainer that its context has ended one that wraps ErrInterrupted. Other errors
// stay what they are.
func Interrupted(err error) error {
	if errors.Is(err, train.ErrInterrupted) {
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return err
}

// Observer receives what people may want to know while a session of classifiers works.
type Observer = ObserverOf[train.Observer]

// ObserverOf receives what people may want to know while a session works; an O watches the steps. Every function
// may be nil.
type ObserverOf[O any] struct {
	Message  func(Message)      // called with what happens
	Training func(Training) []O // called when the training of a net begins, and returns who watches its steps
	Trained  func()             // called when it has ended
}

// Notify passes on a message.
func (o ObserverOf[O]) Notify(m Message) {
	if o.Message != nil {
		o.Message(m)
	}
}

// Begin passes on that the training of a net begins, and returns who watches its steps.
func (o ObserverOf[O]) Begin(t Training) []O {
	if o.Training == nil {
		return nil
	}
	return o.Training(t)
}

// End passes on that the training has ended.
func (o ObserverOf[O]) End() {
	if o.Trained != nil {
		o.Trained()
	}
}

// Message is something that people may want to know.
type Message struct {
	Topic  string // what it is about in a word, such as device, data or rates; empty where the text says so
	Text   string // a line or several
	Detail bool   // marks messages that are shown only while a user watches or has asked for details
	Always bool   // for those too who have asked for silence: without it they would take a result for another one
}

// Reused says that a run in a folder was complete, and is not run again.
func Reused(dir string) Message {
	return Message{Text: dir + " is complete; its results are shown, nothing was trained", Always: true}
}

// Training is a training that begins.
type Training struct {
	Title  string // for people
	Arm    recipe.Name
	MIL    bool
	Noise  float64 // share of the captions that are replaced
	Seed   uint64
	Device string
}
