// Package doctor checks a data set before training: labels, pictures or features, and what the splits share.
// Each finding has a severity and a fix.
//
//	report, err := doctor.Examine(ctx, []doctor.Split{{"train", train}, {"test", test}}, options)
//	for _, f := range report.Findings {
//		fmt.Println(f.Weight, f.Text, f.Cure)
//	}
//
// Files are read once, by several goroutines. Each goroutine has one picture in memory at a time, and about
// 40 bytes per picture are kept. The report does not depend on the number of goroutines.
package doctor
