package node

import (
	"errors"
	"testing"
)

func TestReadiness(t *testing.T) {
	for name, c := range map[string]struct {
		info  map[string]string
		ready bool
	}{
		"a primary":                        {map[string]string{"loading": "0", "role": "master"}, true},
		"a primary that reads its data":    {map[string]string{"loading": "1", "role": "master"}, false},
		"a replica in step":                {map[string]string{"loading": "0", "role": "slave", "master_link_status": "up"}, true},
		"a replica that reads its data":    {map[string]string{"loading": "1", "role": "slave", "master_link_status": "up"}, false},
		"a replica that never had a link":  {map[string]string{"loading": "0", "role": "slave", "master_link_status": "down", "master_sync_in_progress": "0", "master_link_down_since_seconds": "-1"}, true},
		"a replica in its first copy":      {map[string]string{"loading": "0", "role": "slave", "master_link_status": "down", "master_sync_in_progress": "1", "master_link_down_since_seconds": "-1"}, false},
		"a replica that lost its primary":  {map[string]string{"loading": "0", "role": "slave", "master_link_status": "down", "master_sync_in_progress": "0", "master_link_down_since_seconds": "4"}, false},
		"an answer without what was asked": {map[string]string{}, false},
		"something else":                   {map[string]string{"loading": "0", "role": "sentinel"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			words, err := readiness(c.info)
			if (err == nil) != c.ready || (words == "") == c.ready || err != nil && !errors.Is(err, ErrNotReady) {
				t.Errorf("%q, %v", words, err)
			}
		})
	}
}
