// Package capturetest has what tests of the area share, with a fake API server and with a real one.
package capturetest

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/kube/storetest"
)

const driver = "disks.example.com"

// Restores are kept in their intents. There is no more of them than that: neither request nor claim.
func Restores(c client.Client, namespace string) storetest.Kit[*restorer.Restore] {
	progress := func(value string) storetest.Patch {
		return storetest.Patch{Data: `{"data":{"progress":` + value + `}}`}
	}
	return storetest.Kit[*restorer.Restore]{
		Client: c,
		New: func(cached client.Client, live client.Reader) kube.Store[*restorer.Restore] {
			e := kube.Env{Client: cached, Live: live, Now: time.Now}
			return capture.NewRestoreStore(e, capture.RestorerConfig{Driver: driver, Namespace: namespace})
		},
		Make: func(t *testing.T, name string) read.Key {
			t.Helper()
			return makeIntent(t, c, namespace, name)
		},
		Keeper: func(key read.Key) client.Object {
			of, err := capture.ParseRestoreKey(key)
			if err != nil {
				panic(err) // Make has made it
			}
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: restorer.VolumeName(of.UID)}}
		},
		Own:    func(keeper client.Object) { delete(keeper.(*corev1.ConfigMap).Data, "progress") },
		Wipe:   progress(`null`),
		Garble: []storetest.Patch{progress(`"{"`), progress(`"[1]"`), progress(`"{\"phase\":7}"`), progress(`"{\"a\":1}"`), progress(`""`)},
	}
}

func makeIntent(t *testing.T, c client.Client, namespace, name string) read.Key {
	t.Helper()
	uid := types.UID("uid-of-" + name)
	cm, err := restorer.Intent{
		Request: restorer.Ref{Namespace: "shop", Name: name, UID: uid}, Claim: restorer.Ref{Namespace: "shop", Name: "data", UID: "c1"},
		Plan: restorer.Plan{Driver: driver, Name: restorer.VolumeName(uid)},
	}.ConfigMap(namespace)
	if err != nil {
		t.Fatal(err)
	}
	cm.UID = uuid.NewUUID() // which a real API server does not take from anybody
	if err := c.Create(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	return capture.RestoreKey("shop", name, uid, "data")
}
