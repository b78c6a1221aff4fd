// Package witness finds captions that belong to other bags: a noise model one level above that of labels.
//
// Where the caption of another picture stands under a picture, it brings several wrong words at once and takes several
// right ones away at once. The captions of one bag should agree, with each other and with a classifier that has not
// learned them; taken as witnesses, those that do not belong give themselves away. No clean label is used.
//
// The model: y_k says whether word k holds of a bag. A caption is the bag's own, or foreign with probability eps. An
// own caption mentions a word that holds with rate a_k and one that does not with e_k; a foreign one mentions it with
// pi_k, its frequency in all captions.
package misplaced
