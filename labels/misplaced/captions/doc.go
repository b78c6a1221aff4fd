// Package captions audits captions. It finds captions that belong to other pictures or clips, using package
// misplaced, and writes a report, a copy of the captions without them, or both. It needs no clean labels.
//
//	bags, err := annotation.ReadBags(ctx, "captions_train2014.json")
//	report, err := captions.Audit(ctx, bags, captions.DefaultOptions())
//	err = report.WriteFile("captions.parquet")           // the probability that each caption belongs to its bag
//	err = report.Apply(ctx, "captions_kept.json", nil)   // the captions without the foreign ones
package captions
