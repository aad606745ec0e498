package read

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAMarkIsDatedByTheAPIServer: the writer of the mark is dated, and no other writer of the Lease.
func TestAMarkIsDatedByTheAPIServer(t *testing.T) {
	made := time.Unix(1_700_000_000, 0)
	const mark, other = `{"f:metadata":{"f:annotations":{".":{},"f:statecraft.dev/unresolved":{}}}}`, `{"f:metadata":{"f:annotations":{"f:statecraft.dev/target":{}}}}`
	by := func(after time.Duration, fields string) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(made.Add(after))
		return metav1.ManagedFieldsEntry{Manager: "m", Time: &at, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	for name, tc := range map[string]struct {
		writers []metav1.ManagedFieldsEntry
		want    time.Duration
	}{
		"nothing is known of its writers": {nil, 0},
		"the writer of the mark":          {[]metav1.ManagedFieldsEntry{by(time.Minute, mark)}, time.Minute},
		"another writer, later":           {[]metav1.ManagedFieldsEntry{by(time.Minute, mark), by(time.Hour, other)}, time.Minute},
		"two that have set it":            {[]metav1.ManagedFieldsEntry{by(time.Hour, mark), by(time.Minute, mark)}, time.Hour},
		"fields that cannot be read":      {[]metav1.ManagedFieldsEntry{by(time.Hour, `{"f:metadata":1}`), {FieldsV1: metav1.NewFieldsV1(mark)}}, 0},
	} {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made), ManagedFields: tc.writers}}
		if at := MarkedAt(lease); !at.Equal(made.Add(tc.want)) {
			t.Errorf("%s: %s, want %s", name, at, made.Add(tc.want))
		}
	}
}
