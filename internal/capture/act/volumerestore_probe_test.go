package act

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// TestAProbeIsMadeByTheAccount: not by the manager, and its refusal says whom to give which right.
func TestAProbeIsMadeByTheAccount(t *testing.T) {
	const rbac = `User "system:serviceaccount:shop:statecraft-capture" cannot create resource "jobs" in API group "batch" in the namespace "shop"`
	for said, want := range map[string]string{
		"": "",
		rbac: "ServiceAccount statecraft-capture of namespace shop may not create the Job of the rehearsal; bind it to " +
			"ClusterRole statecraft-capture-tenant-rehearsal there, and make another request.",
		"exceeded quota: few, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1": "ResourceQuota few does not allow ",
	} {
		var made []string
		account := interceptor.NewClient(serving(t).(client.WithWatch), interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			made = append(made, obj.GetNamespace()+"/"+obj.GetName())
			if said == "" {
				return nil
			}
			return apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "rehearsal-r1", errors.New(said))
		}})
		a := VolumeRestore{As: func(namespace string) (kube.Writer, error) {
			if namespace != "shop" {
				t.Errorf("acts for namespace %s", namespace)
			}
			return kube.Env{Client: account, Live: account}.Writer("volumerestore"), nil
		}}
		r := &capturev1.VolumeRestoreRequest{}
		r.Namespace, r.UID, r.Spec.Rehearsal = "shop", "r1", &capturev1.Rehearsal{}
		_, err := a.Act(t.Context(), r, volumerestore.CreateProbe{Keeper: "k1"})
		if len(made) != 1 || made[0] != "shop/rehearsal-r1" {
			t.Errorf("made %v", made)
		}
		refused := (*fsm.Error)(nil)
		if said == "" && err != nil || said != "" && (!errors.As(err, &refused) || refused.Class != fsm.Refused || !strings.Contains(refused.Say, want)) {
			t.Errorf("%q: %v", said, err)
		}
	}
}
