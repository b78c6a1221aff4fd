// Package captions audits captions: it finds those that belong to other pictures or clips, by package witness, and
// writes what it has found, a copy of the captions without them, or both. No clean label is used.
//
//	bags, err := annotation.ReadBags(ctx, "captions_train2014.json")
//	report, err := captions.Audit(ctx, bags, captions.DefaultOptions())
//	err = report.WriteFile("captions.parquet")           // how probably each caption is of its bag
//	err = report.Apply(ctx, "captions_kept.json", nil)   // the file without those that are not
package captions
