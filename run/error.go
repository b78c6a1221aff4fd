package run

import "nmn/internal/setting"

// ConfigError is a setting that is out of range, or does not go with others or with the data: a mistake of the caller,
// not a failure. Its Field is the key of the setting in a configuration file, such as data.noise, and empty where no
// single one is at fault.
type ConfigError = setting.Error
