package node

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// note writes down the epoch in which the server is first seen as a primary: when
// the file was written is since when it is one.
//
// Servers below 8.1 vote once per shard in twice their timeout. No server says when
// that was, but the probe looks every few seconds.
func note(file string, epoch int64) error {
	if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == strconv.FormatInt(epoch, 10) {
		return nil
	}
	return replace(file, strconv.FormatInt(epoch, 10)+"\n", 0o644)
}

// noteHeld keeps a file while the server has keys. One that comes back without any knows by it that they are lost.
func noteHeld(file string, info map[string]string) error {
	switch has := wire.HoldsKeys(info); {
	case file == "" || info["loading"] != "0" || has == exists(file):
		return nil
	case has:
		return replace(file, "", 0o644)
	}
	return os.Remove(file)
}

func exists(file string) bool {
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

// since is when the server was first seen as the primary of this epoch.
func since(file string, epoch int64) (time.Time, bool) {
	text, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(text)) != strconv.FormatInt(epoch, 10) {
		return time.Time{}, false
	}
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// spacing is how long to wait until the voters vote again. One whose epoch was not
// noted yet has just become the primary.
func (h *Handover) spacing(self *topology.Server, view topology.Nodes) time.Duration {
	spaced, _ := view.Spacing()
	if spaced == 0 || h.Noted == "" {
		return 0
	}
	at, known := since(h.Noted, self.Self().Epoch)
	if !known {
		if err := note(h.Noted, self.Self().Epoch); err != nil {
			return 0
		}
		return spaced
	}
	return spaced - time.Since(at)
}

// myEpoch finds the config epoch in CLUSTER INFO.
func myEpoch(clusterInfo string) (int64, error) {
	return strconv.ParseInt(wire.ParseInfo(clusterInfo)["cluster_my_epoch"], 10, 64)
}
