package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Settings is how servers stand to the settings of the spec that are changed while they run.
type Settings struct {
	// Print tells settings, and the servers that run, from others; "" is that there are none.
	Print string `json:"print,omitempty"`
	// Work is how far the work is that brings these servers to these settings; one that Ended
	// has succeeded.
	Work Migration `json:"work,omitempty"`
	// Refused is what a server said that does not take one.
	Refused string `json:"refused,omitempty"`
}

// ApplySettings begins to bring servers to the settings of the spec.
type ApplySettings struct {
	Print string
	At    []Member
}

func (ApplySettings) effect()          {}
func (e ApplySettings) String() string { return fmt.Sprintf("apply-settings at %d servers", len(e.At)) }

// Refusal is the end of work that a server refuses.
type Refusal struct{ Words string }

func (r *Refusal) Error() string { return "server refuses: " + r.Words }

// Bounded are its words, as many as a condition should hold.
func (r *Refusal) Bounded() string {
	const most = 300
	words := []rune(r.Words)
	if len(words) > most {
		return string(words[:most]) + "..."
	}
	return r.Words
}

// SettingsWork names the work that brings a cluster's servers to settings.
func SettingsWork(key types.NamespacedName) types.NamespacedName {
	key.Name += "/settings"
	return key
}

// SettingsPrint tells settings from others.
func SettingsPrint(settings map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(sum, "%q %q\n", name, settings[name])
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// settled says that every server that answers has the settings of the spec.
func (s Settings) settled() bool { return s.Print == "" || s.Work == Ended }

// KeepsSettings says that the file from which servers start is to leave out what they have
// not taken yet: one that starts with what it refuses does not start.
func (w World) KeepsSettings() bool { return w.Formed && !w.Settings.settled() }

// applySettings lets servers that answer have the settings of the spec.
func applySettings(in input) []fsm.Effect {
	w := in.World
	if w.Settings.settled() || w.Settings.Work == Moving || w.Settings.Refused != "" || !w.Formed {
		return nil
	}
	e := ApplySettings{Print: w.Settings.Print}
	for _, n := range w.Nodes {
		if n.Server != nil {
			e.At = append(e.At, memberOf(n))
		}
	}
	if len(e.At) == 0 {
		return nil
	}
	return []fsm.Effect{e}
}

// settingsCondition says whether servers have the settings of the spec.
func settingsCondition(in input) (metav1.Condition, bool) {
	w := in.World
	had := apimeta.FindStatusCondition(in.Obj.Status.Conditions, valkeyv1.ConfigApplied) != nil
	if !w.Formed || w.Settings.Print == "" && !had || len(w.Nodes) == 0 {
		return metav1.Condition{}, false
	}
	c := metav1.Condition{Type: valkeyv1.ConfigApplied, Status: status(w.Settings.settled())}
	switch {
	case w.Settings.settled():
		c.Reason, c.Message = string(ReasonConfigApplied), "Every server that answers has the settings of spec.config."
	case w.Settings.Refused != "":
		c.Reason, c.Message = string(ReasonConfigRefused), "A server refuses a setting of spec.config; correct it: "+strings.TrimRight(w.Settings.Refused, ".")+"."
	default:
		c.Reason, c.Message = string(ReasonApplyingConfig), "The manager tells the servers of changed settings."
	}
	return c, true
}
