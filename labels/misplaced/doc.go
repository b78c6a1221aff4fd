// Package misplaced finds captions that belong to other bags. Its noise model describes whole captions
// instead of single labels.
//
// Captions of one picture mention the same things. The captions of a bag are therefore divided into groups:
// the bag's own captions, and captions that came from one other bag together. The package compares all
// divisions of a bag's captions, and judges a caption by the divisions in which it is the bag's own. A
// classifier that has not learned the captions is a further witness. The package needs no clean labels.
//
// The model: y_k is 1 if word k holds for the picture that a group describes, with probability p_k. A caption
// of the group mentions a word that holds with rate a_k, and a word that does not with rate e_k. Without
// scores a largest group is the bag's own. How many captions of a bag are foreign, how often foreign captions
// come together, and how often they come from similar pictures is estimated with the rates, by EM.
//
// Audit judges the captions of a file, and writes a report, a copy of the captions without the foreign ones, or both:
//
//	bags, err := annotation.ReadBags(ctx, "captions_train2014.json")
//	report, err := misplaced.Audit(ctx, bags, misplaced.DefaultAuditOptions())
//	err = report.WriteFile("captions.parquet")                  // the probability that each caption is right
//	outcome, err := report.Apply(ctx, "captions_kept.json", nil) // the captions without the foreign ones
package misplaced
