package guard

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// RecordName is the name of the ConfigMap that holds the record of an area, in the namespace of the manager.
func RecordName(area string) string { return "statecraft-" + area + "-policies" }

// Record is in which generations the policies and bindings were found as they are shipped. Managed fields do not tell
// that a policy was weakened and restored: whoever takes a field away again leaves no trace there. A generation does.
type Record struct {
	// At is when the API server stored the record: the clock of a manager may be wrong. A record is never changed, but
	// replaced.
	At              time.Time
	UID             types.UID
	ResourceVersion string
	Seen            map[string]Sighting // by kind and name
}

// Sighting is one object as it was found.
type Sighting struct {
	UID        types.UID `json:"uid"`
	Generation int64     `json:"generation"`
	// Unbroken is since when it has always been as some version ships it; zero is since the record.
	Unbroken metav1.Time `json:"unbroken,omitzero"`
}

// never is the date of what was not recorded yet.
var never = time.Unix(1<<40, 0)

func sighting(obj metav1.Object, unbroken time.Time) Sighting {
	s := Sighting{UID: obj.GetUID(), Generation: obj.GetGeneration()}
	if unbroken != never {
		s.Unbroken = metav1.NewTime(unbroken)
	}
	return s
}

// datesOf says since when an object is as it is, and since when it has always been one that is shipped. Between two
// generations that follow each other it was nothing else: one release changed it to the next.
func (r *Record) datesOf(c comparison) (since, unbroken time.Time) {
	if c.is.GetGeneration() <= 1 { // nobody has ever changed it
		made := c.is.GetCreationTimestamp().Time
		return made, made
	}
	if r == nil || r.Seen[c.what].UID != c.is.GetUID() {
		return never, never
	}
	since, unbroken = r.At, r.At
	was := r.Seen[c.what]
	if !was.Unbroken.IsZero() {
		unbroken = was.Unbroken.Time
	}
	switch c.is.GetGeneration() - was.Generation {
	case 0:
		return since, unbroken
	case 1:
		return never, unbroken
	}
	return never, never
}

// Next is the record that is to replace the one that was judged by, and whether it says anything else.
func (v Verdict) Next() (next Record, old *Record, changed bool) {
	next, old = Record{Seen: v.seen}, v.record
	if v.Gap != "" {
		return next, old, false
	}
	if old == nil || len(old.Seen) != len(v.seen) {
		return next, old, true
	}
	for what, is := range v.seen {
		if was := old.Seen[what]; was.UID != is.UID || was.Generation != is.Generation {
			return next, old, true
		}
	}
	return next, old, false
}

const seenKey = "seen"

// ConfigMap is how the record of an area is stored.
func (r Record) ConfigMap(area, namespace string) (*corev1.ConfigMap, error) {
	seen, err := json.Marshal(r.Seen)
	if err != nil {
		return nil, fmt.Errorf("write record of policies: %w", err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: RecordName(area), Labels: map[string]string{"app.kubernetes.io/part-of": "statecraft"},
		},
		Immutable: ptr.To(true),
		Data:      map[string]string{seenKey: string(seen)},
	}, nil
}

// RecordOf reads a record. One that cannot be read says nothing, and is replaced.
func RecordOf(cm *corev1.ConfigMap) *Record {
	r := &Record{At: cm.CreationTimestamp.Time, UID: cm.UID, ResourceVersion: cm.ResourceVersion}
	if err := json.Unmarshal([]byte(cm.Data[seenKey]), &r.Seen); err != nil {
		r.Seen = nil
	}
	return r
}
