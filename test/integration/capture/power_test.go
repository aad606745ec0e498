package capture

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// forbidden is nil if a write is refused with these words.
func forbidden(err error, words string) error {
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		return fmt.Errorf("error %w, want one that says %q", err, words)
	}
	return nil
}

// TestAnEditorCannotRaiseAQuotaByTheAccount: the role edit lets users impersonate ServiceAccounts, so what the account
// may do they may do. It has the roles that a namespace gives it to capture and to restore.
func TestAnEditorCannotRaiseAQuotaByTheAccount(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	const account = "statecraft-capture"
	tenant(t, c, namespace, "statecraft-capture-tenant-restore", "statecraft-capture-tenant-secrets", "statecraft-capture-tenant-restore-secrets")
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: named(namespace, "team"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "editor"}},
	})
	as := b.ConfigFor("editor")
	as.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + account}
	editor := harness.ClientOf(t, as, c)
	quota := &corev1.ResourceQuota{ObjectMeta: named(namespace, "few"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("3")}}}
	limits := &corev1.LimitRange{ObjectMeta: named(namespace, "small")}
	role := &rbacv1.Role{ObjectMeta: named(namespace, "reader"), Rules: []rbacv1.PolicyRule{harness.Rule("get", "", "configmaps")}}
	binding := &rbacv1.RoleBinding{ObjectMeta: named(namespace, "readers"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}}
	all := []client.Object{quota, limits, role, binding}
	for _, obj := range all {
		create(t, c, obj)
	}
	settings := configMap(namespace, "settings") // what is the team's can be restored
	harness.Eventually(t, soon, poll, func() error { return harness.Accepted(t, editor, settings) })
	raise := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"9999"}}}`))
	touch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	if err := forbidden(editor.Patch(t.Context(), quota.DeepCopy(), raise), `cannot patch resource "resourcequotas"`); err != nil {
		t.Error(err)
	}
	for i, resource := range []string{"resourcequotas", "limitranges", "roles", "rolebindings"} {
		there, another := all[i].DeepCopyObject().(client.Object), all[i].DeepCopyObject().(client.Object)
		another.SetName("another")
		another.SetResourceVersion("")
		if err := editor.Get(t.Context(), client.ObjectKeyFromObject(there), there); err != nil {
			t.Errorf("whether a name is taken cannot be seen: %v", err)
		}
		for verb, err := range map[string]error{
			"patch": editor.Patch(t.Context(), there, touch), "create": editor.Create(t.Context(), another), "delete": editor.Delete(t.Context(), there),
		} {
			if err := forbidden(err, `cannot `+verb+` resource "`+resource+`"`); err != nil {
				t.Error(err)
			}
		}
	}
}

const restorerAccount = "system:serviceaccount:" + harness.SystemNamespace + ":statecraft-restorer"

// TestTheRestorerPassesNoPolicyByTwoWrites: what one write may not do, two may not do either.
func TestTheRestorerPassesNoPolicyByTwoWrites(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.Grant(t, c, restorerAccount, "", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"", "storage.k8s.io"}, Resources: []string{"*"}},
		rbacv1.PolicyRule{Verbs: []string{"provision"}, APIGroups: []string{"storage.k8s.io"}, Resources: []string{"csidrivers"}, ResourceNames: []string{"ours.example.com"}})
	restorer := harness.ClientAs(t, b, c, restorerAccount)
	volume := func(name string, change func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name}, Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: corev1.ResourceList{"storage": resource.MustParse("1Gi")},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain, StorageClassName: "none",
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ours.example.com", VolumeHandle: name}},
			ClaimRef:               &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name, UID: "of-" + types.UID(name)},
		}}
		change(v)
		return v
	}
	theirs := volume("theirs", func(*corev1.PersistentVolume) {})
	restored := volume("restored", func(v *corev1.PersistentVolume) { v.Annotations = map[string]string{capturev1.RestoreAnnotation: "r1"} })
	detached := volume("detached", func(v *corev1.PersistentVolume) { v.Labels = map[string]string{capturev1.DetachedByLabel: "r2"} })
	for _, v := range []client.Object{theirs, restored, detached} {
		create(t, c, v)
		t.Cleanup(func() { _ = c.Delete(context.Background(), v) })
	}
	mark := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"capture.statecraft.dev/detached-by":"r9"}}}`))
	claimed := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"capture.statecraft.dev/restore":"r9"}}}`))
	move := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"claimRef":{"name":"mine","uid":"mine"}}}`))
	reclaim := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`))
	patch := func(v *corev1.PersistentVolume, p client.Patch) error {
		return restorer.Patch(t.Context(), v.DeepCopy(), p, client.DryRunAll)
	}
	const marks, others, moves = "only the manager of area capture marks a volume as detached",
		"a restorer changes volumes that were detached or restored, and no others", "only a volume that was detached is moved to another claim"
	for name, try := range map[string]struct {
		do    func() error
		words string // of the refusal; "" is that it may
	}{
		"marks another's volume, to move it then":  {func() error { return patch(theirs, mark) }, marks},
		"marks a restored volume, to move it then": {func() error { return patch(restored, mark) }, marks},
		"takes the mark of another request":        {func() error { return patch(detached, mark) }, marks},
		"claims another's volume as restored":      {func() error { return patch(theirs, claimed) }, others},
		"lets another's volume be deleted":         {func() error { return patch(theirs, reclaim) }, others},
		"moves another's volume":                   {func() error { return patch(theirs, move) }, moves},
		"moves a restored volume":                  {func() error { return patch(restored, move) }, moves},
		"makes a volume that is marked": {func() error {
			return harness.Accepted(t, restorer, volume("new", func(v *corev1.PersistentVolume) { v.Labels = detached.Labels }))
		}, marks},
		"moves a detached volume":            {func() error { return patch(detached, move) }, ""},
		"gives a restored volume its policy": {func() error { return patch(restored, reclaim) }, ""},
		"makes a volume":                     {func() error { return harness.Accepted(t, restorer, volume("new", func(*corev1.PersistentVolume) {})) }, ""},
		"removes the mark of a detached volume that it moves": {func() error {
			return patch(detached, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":null}}`)))
		}, ""},
	} {
		harness.Eventually(t, soon, poll, func() error {
			err := try.do()
			if try.words != "" {
				err = forbidden(err, try.words)
			}
			if err != nil {
				return fmt.Errorf("a restorer that %s: %w", name, err)
			}
			return nil
		})
	}
}

// TestTheRestorerDeletesNobodysClaims: of all claims of the cluster, it has to do with those of restores.
func TestTheRestorerDeletesNobodysClaims(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.Grant(t, c, restorerAccount, "", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"*"}})
	restorer := harness.ClientAs(t, b, c, restorerAccount)
	group := capturev1.GroupName
	of := func(name, kind string) *corev1.PersistentVolumeClaim {
		p := claim(namespace, name)
		if kind != "" {
			p.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: &group, Kind: kind, Name: "back"}
		}
		return p
	}
	theirs, waits, bound := of("theirs", ""), of("waits", "VolumeRestoreRequest"), of("bound", "VolumeRestoreRequest")
	class := "none"
	bound.Spec.StorageClassName, bound.Spec.VolumeName = &class, namespace+"-bound"
	for _, p := range []*corev1.PersistentVolumeClaim{theirs, waits, bound} {
		create(t, c, p)
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: bound.Spec.VolumeName}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: bound.Spec.AccessModes, Capacity: bound.Spec.Resources.Requests, StorageClassName: class,
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ours.example.com", VolumeHandle: "bound"}},
		ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: bound.Name, UID: bound.UID},
	}}
	create(t, c, volume)
	t.Cleanup(func() { _ = c.Delete(context.Background(), volume) })
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(bound), bound); err != nil || bound.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("the claim is %s: %w", bound.Status.Phase, err)
		}
		return nil
	})
	status := func(p *corev1.PersistentVolumeClaim, text string) error {
		return restorer.Status().Patch(t.Context(), p.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)), client.DryRunAll)
	}
	const told = `{"status":{"conditions":[{"type":"capture.statecraft.dev/Restore","status":"False","reason":"DriverError"}]}}`
	const others, volumeless, phase = "a restorer makes, changes and deletes claims of VolumeRestoreRequests, and no others",
		"a restorer deletes claims that have no volume, and no others", "a restorer changes conditions of claims, and not their phase"
	for name, try := range map[string]struct {
		do    func() error
		words string
	}{
		"deletes a claim of a user":                {func() error { return restorer.Delete(t.Context(), theirs, client.DryRunAll) }, others},
		"makes a claim for no restore":             {func() error { return harness.Accepted(t, restorer, of("new", "")) }, others},
		"tells a user's claim something":           {func() error { return status(theirs, told) }, others},
		"deletes a claim that has its volume":      {func() error { return restorer.Delete(t.Context(), bound, client.DryRunAll) }, volumeless},
		"calls it Lost, to delete it then":         {func() error { return status(bound, `{"status":{"phase":"Lost"}}`) }, phase},
		"makes a claim for a restore":              {func() error { return harness.Accepted(t, restorer, of("new", "VolumeRestoreRequest")) }, ""},
		"tells the claim of a restore something":   {func() error { return status(waits, told) }, ""},
		"deletes a claim that will have no volume": {func() error { return restorer.Delete(t.Context(), waits, client.DryRunAll) }, ""},
	} {
		harness.Eventually(t, soon, poll, func() error {
			err := try.do()
			if try.words != "" {
				err = forbidden(err, try.words)
			}
			if err != nil {
				return fmt.Errorf("a restorer that %s: %w", name, err)
			}
			return nil
		})
	}
}

// TestAUserOfManyGroupsIsNotLockedOut: directories give users hundreds of groups, and tokens long ones.
func TestAUserOfManyGroupsIsNotLockedOut(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	as := b.Config()
	as.Impersonate = rest.ImpersonationConfig{UserName: "https://login.example.com/" + strings.Repeat("u", 600), UID: strings.Repeat("1", 200), Groups: []string{"system:masters"}}
	for i := range 1500 {
		as.Impersonate.Groups = append(as.Impersonate.Groups, fmt.Sprintf("cn=team-%04d,%s", i, strings.Repeat("ou=department,", 8)))
	}
	as.Impersonate.Extra = map[string][]string{"example.com/scopes": make([]string, 100)}
	for i := range as.Impersonate.Extra["example.com/scopes"] {
		as.Impersonate.Extra["example.com/scopes"][i] = fmt.Sprintf("scope-%d", i)
	}
	user, want := harness.ClientOf(t, as, c), harness.WhoAmI(t, as)
	if len(want.Groups) < 1500 {
		t.Fatalf("the API server takes the user for somebody of %d groups", len(want.Groups))
	}
	for _, obj := range eachKind(namespace) {
		if err := user.Create(t.Context(), obj, client.DryRunAll); err != nil {
			t.Fatalf("%T: %.300s", obj, err)
		}
		if diff := cmp.Diff(want, *requesterOf(obj)); diff != "" {
			t.Errorf("%T: %.300s", obj, diff)
		}
	}
}
