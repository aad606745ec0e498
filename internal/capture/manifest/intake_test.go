package manifest

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

var (
	emptySpec  capturev1.ManifestCaptureRequestSpec
	configMaps = Query{Resource: core("configmaps", "ConfigMap")}
)

func core(resource, kind string) Resource {
	return Resource{Version: "v1", Resource: resource, Kind: kind}
}

func grouped(group, resource, kind string) Resource {
	return Resource{Group: group, Version: "v1", Resource: resource, Kind: kind}
}

func TestWhatIsStripped(t *testing.T) {
	for what, c := range map[string]struct {
		of       Resource
		is, want string
	}{
		"what the server writes into metadata, and finalizers": {
			of:   core("configmaps", "ConfigMap"),
			is:   `{"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"1","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[{}],"selfLink":"x","finalizers":["f"],"labels":{"l":"1"},"annotations":{"a":"1"}},"data":{"k":"v"}}`,
			want: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"l":"1"},"annotations":{"a":"1"}},"data":{"k":"v"}}`,
		},
		"status": {
			of:   grouped("example.com", "gadgets", "Gadget"),
			is:   `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"x":1},"status":{"y":2}}`,
			want: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"x":1}}`,
		},
		"what controllers note": {
			of:   grouped("apps", "deployments", "Deployment"),
			is:   `{"metadata":{"name":"a","annotations":{"deployment.kubernetes.io/revision":"3"}},"spec":{}}`,
			want: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{}}`,
		},
		"owners stay": {
			of:   core("configmaps", "ConfigMap"),
			is:   `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Gadget","name":"g","uid":"u"}]}}`,
			want: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Gadget","name":"g","uid":"u"}]}}`,
		},
		"addresses and node ports of a Service": {
			of:   core("services", "Service"),
			is:   `{"metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":31000,"ports":[{"port":80,"nodePort":30080}]}}`,
			want: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`,
		},
		"a headless Service stays one": {
			of:   core("services", "Service"),
			is:   `{"metadata":{"name":"a"},"spec":{"clusterIP":"None","clusterIPs":["None"]}}`,
			want: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"clusterIP":"None","clusterIPs":["None"]}}`,
		},
		"the volume of a claim": {
			of:   core("persistentvolumeclaims", "PersistentVolumeClaim"),
			is:   `{"metadata":{"name":"data","annotations":{"pv.kubernetes.io/bind-completed":"yes","mine":"1"}},"spec":{"volumeName":"pv-1","storageClassName":"fast"}}`,
			want: `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","annotations":{"mine":"1"}},"spec":{"storageClassName":"fast"}}`,
		},
		"what a claim was once made from": {
			of:   core("persistentvolumeclaims", "PersistentVolumeClaim"),
			is:   `{"metadata":{"name":"data","annotations":{"capture.statecraft.dev/restore":"r1"}},"spec":{"dataSource":{"kind":"VolumeSnapshot","name":"s"},"dataSourceRef":{"kind":"VolumeSnapshot","name":"s"},"storageClassName":"fast"}}`,
			want: `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"storageClassName":"fast"}}`,
		},
		"what ties a Job to its pods": {
			of:   grouped("batch", "jobs", "Job"),
			is:   `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}},"template":{"metadata":{"labels":{"controller-uid":"u","batch.kubernetes.io/controller-uid":"u","job-name":"a","batch.kubernetes.io/job-name":"a","mine":"1"}}}}}`,
			want: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":{"metadata":{"labels":{"mine":"1"}}}}}`,
		},
		"the selector of a Job that somebody wrote stays": {
			of:   grouped("batch", "jobs", "Job"),
			is:   `{"metadata":{"name":"a"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}}}`,
			want: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}}}`,
		},
		"the node and the token of a Pod": {
			of:   core("pods", "Pod"),
			is:   `{"metadata":{"name":"a"},"spec":{"nodeName":"n","containers":[{"name":"c","volumeMounts":[{"name":"kube-api-access-x"},{"name":"mine"}]}],"volumes":[{"name":"kube-api-access-x"},{"name":"mine"}]},"status":{"phase":"Running"}}`,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","volumeMounts":[{"name":"mine"}]}],"volumes":[{"name":"mine"}]}}`,
		},
		"containers that somebody has added to a running Pod, and what admission computes": {
			of:   core("pods", "Pod"),
			is:   `{"metadata":{"name":"a"},"spec":{"priority":0,"preemptionPolicy":"PreemptLowerPriority","priorityClassName":"high","containers":[{"name":"c"}],"ephemeralContainers":[{"name":"debug"}]}}`,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"priorityClassName":"high","containers":[{"name":"c"}]}}`,
		},
		"tokens that a ServiceAccount names": {
			of:   core("serviceaccounts", "ServiceAccount"),
			is:   `{"metadata":{"name":"a"},"secrets":[{"name":"a-token-x"}],"imagePullSecrets":[{"name":"p"}]}`,
			want: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"imagePullSecrets":[{"name":"p"}]}`,
		},
	} {
		spec := emptySpec
		spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", Empty: true}}
		got, err := NewIntake(&spec, Plan{}).Take(Query{Resource: c.of}, []byte(c.is))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var is, want any
		if err := errors.Join(json.Unmarshal(got, &is), json.Unmarshal([]byte(c.want), &want)); err != nil {
			t.Errorf("%s: %v in %s", what, err, got)
		}
		if diff := cmp.Diff(want, is); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	for what, c := range map[string]struct {
		of   Resource
		is   string
		want meta.Reason
	}{
		"what a controller makes":            {grouped("apps", "replicasets", "ReplicaSet"), `{"metadata":{"name":"a","ownerReferences":[{"controller":true,"uid":"u"}]}}`, ReasonControlled},
		"a claim of a Pod":                   {core("persistentvolumeclaims", "PersistentVolumeClaim"), `{"metadata":{"name":"a","ownerReferences":[{"controller":true,"kind":"Pod","uid":"u"}]},"spec":{}}`, ReasonControlled},
		"a claim of a rehearsal":             {core("persistentvolumeclaims", "PersistentVolumeClaim"), `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"capture.statecraft.dev/v1alpha1","kind":"ObjectKeeper","name":"request-u","controller":true,"uid":"u"}]},"spec":{}}`, ReasonOwnRequest},
		"a slice that a Service makes":       {grouped("discovery.k8s.io", "endpointslices", "EndpointSlice"), `{"metadata":{"name":"a","ownerReferences":[{"controller":true,"kind":"Service","uid":"u"}]}}`, ReasonControlled},
		"a slice of a user is taken":         {grouped("discovery.k8s.io", "endpointslices", "EndpointSlice"), `{"metadata":{"name":"a"}}`, ""},
		"what is only owned is taken":        {core("configmaps", "ConfigMap"), `{"metadata":{"name":"a","ownerReferences":[{"uid":"u"}]}}`, ""},
		"what is being deleted":              {core("configmaps", "ConfigMap"), `{"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}}`, ReasonTerminating},
		"the authority of the cluster":       {core("configmaps", "ConfigMap"), `{"metadata":{"name":"kube-root-ca.crt"}}`, ReasonDerived},
		"the ServiceAccount of everyone":     {core("serviceaccounts", "ServiceAccount"), `{"metadata":{"name":"default"}}`, ReasonDerived},
		"the account that captures":          {core("serviceaccounts", "ServiceAccount"), `{"metadata":{"name":"statecraft-capture"}}`, ReasonOwnAccount},
		"its binding":                        {bindings, `{"metadata":{"name":"a","namespace":"shop"},"roleRef":{"kind":"ClusterRole","name":"admin"},"subjects":[{"kind":"ServiceAccount","name":"statecraft-capture","namespace":"shop"}]}`, ReasonOwnAccount},
		"a binding of who may capture":       {bindings, `{"metadata":{"name":"a","namespace":"shop"},"roleRef":{"kind":"ClusterRole","name":"statecraft-capture-edit"},"subjects":[{"kind":"User","name":"ann"}]}`, ReasonOwnAccount},
		"a binding of others, too, is taken": {bindings, `{"metadata":{"name":"a","namespace":"shop"},"roleRef":{"kind":"Role","name":"web"},"subjects":[{"kind":"ServiceAccount","name":"statecraft-capture","namespace":"shop"},{"kind":"User","name":"ann"}]}`, ""},
		"a binding of another's is taken":    {bindings, `{"metadata":{"name":"a","namespace":"shop"},"roleRef":{"kind":"Role","name":"web"},"subjects":[{"kind":"ServiceAccount","name":"statecraft-capture","namespace":"bank"}]}`, ""},
		"a binding of nobody is taken":       {bindings, `{"metadata":{"name":"a","namespace":"shop"},"roleRef":{"kind":"Role","name":"web"}}`, ""},
		"a ConfigMap of that name is taken":  {core("configmaps", "ConfigMap"), `{"metadata":{"name":"default"}}`, ""},
		"a token":                            {core("secrets", "Secret"), `{"metadata":{"name":"a"},"type":"kubernetes.io/service-account-token"}`, ReasonToken},
		"another Secret is taken":            {core("secrets", "Secret"), `{"metadata":{"name":"a"},"type":"Opaque"}`, ""},
		"Endpoints of a Service":             {core("endpoints", "Endpoints"), `{"metadata":{"name":"a","labels":{"endpoints.kubernetes.io/managed-by":"endpoint-controller"}}}`, ReasonDerived},
		"Endpoints of a user are taken":      {core("endpoints", "Endpoints"), `{"metadata":{"name":"a"}}`, ""},
		"a Job that is done":                 {grouped("batch", "jobs", "Job"), `{"metadata":{"name":"a"},"spec":{},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`, ReasonFinished},
		"a Job that failed":                  {grouped("batch", "jobs", "Job"), `{"metadata":{"name":"a"},"spec":{},"status":{"conditions":[{"type":"Failed","status":"True"}]}}`, ReasonFinished},
		"a Job that runs is taken":           {grouped("batch", "jobs", "Job"), `{"metadata":{"name":"a"},"spec":{},"status":{"conditions":[{"type":"Suspended","status":"True"}]}}`, ""},
		"a Pod that has ended":               {core("pods", "Pod"), `{"metadata":{"name":"a"},"spec":{},"status":{"phase":"Succeeded"}}`, ReasonFinished},
	} {
		in := NewIntake(&emptySpec, Plan{})
		document, err := in.Take(Query{Resource: c.of}, []byte(c.is))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var got meta.Reason
		if s := in.Skipped(); len(s) > 0 {
			got = s[0].Reason
		}
		if got != c.want || (document == nil) != (c.want != "") {
			t.Errorf("%s: skipped for %q, document %s", what, got, document)
		}
	}
}

var bindings = grouped("rbac.authorization.k8s.io", "rolebindings", "RoleBinding")

// TestRolesOfTheAccountAreLeftOut: a Role goes with the bindings that name it, if these are all the account's.
func TestRolesOfTheAccountAreLeftOut(t *testing.T) {
	in := NewIntake(&emptySpec, Plan{})
	ours, theirs := `[{"kind":"ServiceAccount","name":"statecraft-capture","namespace":"shop"}]`, `[{"kind":"User","name":"ann"}]`
	for _, b := range [][3]string{{"a", "own", ours}, {"b", "both", ours}, {"c", "both", theirs}, {"d", "theirs", theirs}} {
		raw := `{"metadata":{"name":"` + b[0] + `","namespace":"shop"},"roleRef":{"kind":"Role","name":"` + b[1] + `"},"subjects":` + b[2] + `}`
		if _, err := in.Take(Query{Resource: bindings}, []byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	for name, taken := range map[string]bool{"own": false, "both": true, "theirs": true, "nobodys": true} {
		document, err := in.Take(Query{Resource: grouped("rbac.authorization.k8s.io", "roles", "Role")}, []byte(`{"metadata":{"name":"`+name+`"},"rules":[]}`))
		if err != nil || (document != nil) != taken {
			t.Errorf("Role %s: %s, %v", name, document, err)
		}
	}
	_, err := in.Take(Query{Resource: core("serviceaccounts", "ServiceAccount"), Name: "statecraft-capture"}, []byte(`{"metadata":{"name":"statecraft-capture"}}`))
	refused(t, err, capturev1.ReasonInvalidTarget)
	if a, b := bindings, grouped("rbac.authorization.k8s.io", "roles", "Role"); a.Rank() != b.Rank() || a.Resource > b.Resource {
		t.Error("roles are read before bindings")
	}
}

func TestWhatIsNamedMustBeThere(t *testing.T) {
	named := Query{Resource: configMaps.Resource, Name: "a"}
	in := NewIntake(&emptySpec, Plan{})
	refused(t, in.Done(named), capturev1.ReasonNotFound)

	if _, err := in.Take(named, []byte(`{"metadata":{"name":"a"}}`)); err != nil || in.Done(named) != nil {
		t.Errorf("it is there: %v", err)
	}
	// What was taken by its name is not taken once more.
	if again, err := in.Take(configMaps, []byte(`{"metadata":{"name":"a"}}`)); again != nil || err != nil || in.Expected() != 1 {
		t.Errorf("taken twice: %s %v", again, err)
	}
	if other, err := in.Take(configMaps, []byte(`{"metadata":{"name":"b"}}`)); other == nil || err != nil || in.Expected() != 2 {
		t.Errorf("not taken: %v", err)
	}
	_, err := in.Take(named, []byte(`{"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}}`))
	refused(t, err, capturev1.ReasonInvalidTarget)
}

func TestAClaimNeedsItsData(t *testing.T) {
	claims := Query{Resource: core("persistentvolumeclaims", "PersistentVolumeClaim")}
	_, err := NewIntake(&emptySpec, Plan{}).Take(claims, []byte(`{"metadata":{"name":"data"},"spec":{}}`))
	refused(t, err, capturev1.ReasonVolumeNotCaptured)
	// A StatefulSet would make another, with nothing in it.
	_, err = NewIntake(&emptySpec, Plan{}).Take(claims, []byte(`{"metadata":{"name":"data","ownerReferences":[{"controller":true,"kind":"StatefulSet","uid":"u"}]},"spec":{}}`))
	refused(t, err, capturev1.ReasonVolumeNotCaptured)
}

// TestAClaimThatSomebodyKeepsIsTaken: a keeper that was made by hand has nothing to do with requests.
func TestAClaimThatSomebodyKeepsIsTaken(t *testing.T) {
	claims := Query{Resource: core("persistentvolumeclaims", "PersistentVolumeClaim")}
	_, err := NewIntake(&emptySpec, Plan{}).Take(claims, []byte(`{"metadata":{"name":"data","ownerReferences":[{"apiVersion":"capture.statecraft.dev/v1alpha1","kind":"ObjectKeeper","name":"mine","controller":true,"uid":"u"}]},"spec":{}}`))
	refused(t, err, capturev1.ReasonVolumeNotCaptured)
}

func TestDataNeedsItsClaim(t *testing.T) {
	spec := capturev1.ManifestCaptureRequestSpec{Volumes: []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}, {Claim: "cache", Empty: true}}}
	in := NewIntake(&spec, Plan{})
	refused(t, in.Complete(), capturev1.ReasonVolumeNotCaptured)
	if _, err := in.Take(Query{Resource: core("persistentvolumeclaims", "PersistentVolumeClaim")}, []byte(`{"metadata":{"name":"data"},"spec":{}}`)); err != nil || in.Complete() != nil {
		t.Errorf("the claim is there: %v, %v", err, in.Complete())
	}
}

func refused(t *testing.T, err error, want meta.Reason) {
	t.Helper()
	if r := (*Refusal)(nil); !errors.As(err, &r) || r.Reason != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestSkippedFitsIntoAStatus(t *testing.T) {
	in := NewIntake(&emptySpec, Plan{})
	for i := range 300 {
		r := grouped("example.com", "things"+string(rune('a'+i/26))+string(rune('a'+i%26)), "Thing")
		for range 20 {
			if _, err := in.Take(Query{Resource: r}, []byte(`{"metadata":{"name":"a","deletionTimestamp":"x"}}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	in.LeaveOut(grouped("example.com", "zebras", "Zebra"))
	s := in.Skipped()
	if last := s[len(s)-1]; last.Resource != "zebras" || last.Reason != ReasonNotAllowed || last.Count != 0 {
		t.Errorf("what nobody looked at is not told: %+v", last)
	}
	if len(s) != mostSkipped || len(s[0].Names) != mostNames || s[0].Count != 20 {
		t.Errorf("%d heaps, the first %+v", len(s), s[0])
	}
}
