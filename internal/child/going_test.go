package child

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestGoing(t *testing.T) {
	controlled := func(apiVersion, kind, name, uid string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(true)}}
	}
	owner := &controlled("example.com/v2", "Lamp", "lamp", "new")[0]
	deleted := &metav1.Time{Time: time.Unix(1, 0)}
	for what, c := range map[string]struct {
		there metav1.ObjectMeta
		want  string
	}{
		"nobody's":                       {metav1.ObjectMeta{}, ""},
		"ours":                           {metav1.ObjectMeta{OwnerReferences: controlled("example.com/v2", "Lamp", "lamp", "new")}, ""},
		"of a former lamp":               {metav1.ObjectMeta{OwnerReferences: controlled("example.com/v1", "Lamp", "lamp", "old")}, "garbage collection takes it"},
		"of another lamp":                {metav1.ObjectMeta{OwnerReferences: controlled("example.com/v2", "Lamp", "other", "old")}, ""},
		"of another kind":                {metav1.ObjectMeta{OwnerReferences: controlled("example.com/v2", "Door", "lamp", "old")}, ""},
		"of that kind of another group":  {metav1.ObjectMeta{OwnerReferences: controlled("example.org/v2", "Lamp", "lamp", "old")}, ""},
		"ours, being deleted":            {metav1.ObjectMeta{DeletionTimestamp: deleted, OwnerReferences: controlled("example.com/v2", "Lamp", "lamp", "new")}, "it is being deleted"},
		"nobody's, held by a finalizer":  {metav1.ObjectMeta{DeletionTimestamp: deleted, Finalizers: []string{"foregroundDeletion"}}, "finalizers hold it: foregroundDeletion"},
		"with a finalizer, and it stays": {metav1.ObjectMeta{Finalizers: []string{"foregroundDeletion"}}, ""},
	} {
		if got := Going(&c.there, owner); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", what, got)
		}
	}
}
