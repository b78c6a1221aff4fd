package dataset

import "nmn/internal/setting"

// ConfigError is a setting that is out of range, or conflicts with other settings or the data: a mistake of
// the caller, not a failure. Field is the key of the setting in a configuration file, such as data.noise. It
// is empty if several settings are at fault.
type ConfigError = setting.Error
