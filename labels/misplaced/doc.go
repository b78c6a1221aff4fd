// Package misplaced finds captions that belong to other bags. Its noise model describes whole captions
// instead of single labels.
//
// A caption from another picture adds several wrong words and hides several right ones together. The captions
// of one bag should agree with each other, and with a classifier that has not learned them. Captions that
// disagree with these witnesses are probably foreign. The package needs no clean labels.
//
// The model: y_k is 1 if word k holds for a bag. A caption is the bag's own, or foreign with probability eps.
// An own caption mentions a word that holds with rate a_k and a word that does not with rate e_k. A foreign
// caption mentions it with rate pi_k, its frequency in all captions.
package misplaced
