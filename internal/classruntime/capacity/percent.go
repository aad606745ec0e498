package capacity

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrPercent is of a text that is no percentage of availability.
var ErrPercent = errors.New("not a percentage below 100")

// ParsePercent reads a percentage such as "99.9" as the share 0.999.
func ParsePercent(text string) (share float64, err error) {
	percent, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || percent <= 0 || percent >= 100 {
		return 0, fmt.Errorf("read availability %q: %w", text, ErrPercent)
	}
	return percent / 100, nil
}
