// Package doctor looks at a data set before anything is trained on it: labels, pictures or features, and
// what the splits share. What it finds has a weight, and says what to do about it.
//
//	report, err := doctor.Examine(ctx, []doctor.Split{{"train", train}, {"test", test}}, options)
//	for _, f := range report.Findings {
//		fmt.Println(f.Weight, f.Text, f.Cure)
//	}
//
// Files are read once, by several goroutines; one picture of each is in memory at a time, and of every
// picture some 40 bytes stay. The report does not depend on the number of goroutines.
package doctor
