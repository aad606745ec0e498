package action

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

const execution types.UID = "3f0c"

const (
	webOf2 = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: u1, resourceVersion: "7", generation: 3}, spec: {replicas: 2, template: {metadata: {labels: {app: web}}, spec: {
  initContainers: [{name: init, image: "busybox:1"}],
  containers: [{name: app, image: "web:1", env: [{name: A, value: x}], resources: {}}, {name: proxy, image: "proxy:1"}]}}}}`
	dbOnDelete = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 1, updateStrategy: {type: OnDelete}, template: {spec: {containers: [{name: db, image: "db:1"}]}}}}`
	settings   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "1", b: "2", "c.properties": "x=y"}, binaryData: {bin: AA==}}`
	webPod     = `{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop, uid: p1, labels: {app: web}, ownerReferences: [{kind: ReplicaSet, name: web-5f, uid: r1, controller: true}]}, spec: {serviceAccountName: default, nodeName: n1}}`
	freeNode   = `{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {podCIDR: 10.0.0.0/24}}`
	closedNode = `{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true}}`
)

func with(object string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(object)
}

func TestPlans(t *testing.T) {
	for say, c := range map[string]struct {
		builtin, target string
		p               Params
		patch           string
		inverse         string // action and parameters; empty is none
		summary         string
		caveat          string
		fields          []remediationv1.Change
	}{
		"a Deployment is scaled": {builtin: "scale_deployment", target: webOf2, p: Params{"replicas": int64(5)},
			patch: `{"spec":{"replicas":5}}`, inverse: `scale_deployment {"replicas":2}`, summary: "Scale Deployment web from 2 to 5 replicas.",
			fields: []remediationv1.Change{{Path: "spec.replicas", From: "2", To: "5"}}},
		"a StatefulSet is scaled to nothing": {builtin: "scale_statefulset", target: dbOnDelete, p: Params{"replicas": int64(0)},
			patch: `{"spec":{"replicas":0}}`, inverse: `scale_statefulset {"replicas":1}`, summary: "Scale StatefulSet db from 1 to 0 replicas.",
			fields: []remediationv1.Change{{Path: "spec.replicas", From: "1", To: "0"}}},
		"an absent number of replicas is 1": {builtin: "scale_deployment", target: with(webOf2, "replicas: 2, ", ""), p: Params{"replicas": int64(2)},
			patch: `{"spec":{"replicas":2}}`, inverse: `scale_deployment {"replicas":1}`, summary: "Scale Deployment web from 1 to 2 replicas.",
			fields: []remediationv1.Change{{Path: "spec.replicas", To: "2"}}},
		"what the inverse would refuse has no inverse": {builtin: "scale_deployment", target: with(webOf2, "replicas: 2", "replicas: 1001"), p: Params{"replicas": int64(5)},
			patch: `{"spec":{"replicas":5}}`, summary: "Scale Deployment web from 1001 to 5 replicas.",
			caveat: "It cannot be taken back by scale_deployment. Parameter replicas is 1001, and 1000 is the most.",
			fields: []remediationv1.Change{{Path: "spec.replicas", From: "1001", To: "5"}}},
		"a restart stamps the execution": {builtin: "rollout_restart", target: webOf2,
			patch:   `{"spec":{"template":{"metadata":{"annotations":{"remediation.statecraft.dev/restarted-by":"3f0c"}}}}}`,
			summary: "Restart all pods of Deployment web, as its update strategy allows.", caveat: "A restart cannot be taken back.",
			fields: []remediationv1.Change{{Path: `spec.template.metadata.annotations.remediation\.statecraft\.dev/restarted-by`, To: `"3f0c"`}}},
		"an image is replaced, and all containers are in the patch": {builtin: "update_image", target: webOf2, p: Params{"container": "app", "image": "web:2"},
			patch:   `{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A","value":"x"}],"image":"web:2","name":"app","resources":{}},{"image":"proxy:1","name":"proxy"}]}}}}`,
			inverse: `update_image {"container":"app","image":"web:1"}`, summary: "Set the image of container app of Deployment web to web:2.",
			fields: []remediationv1.Change{{Path: "spec.template.spec.containers[app].image", From: `"web:1"`, To: `"web:2"`}}},
		"an init container has an image, too": {builtin: "update_image", target: webOf2, p: Params{"container": "init", "image": "busybox:2"},
			patch:   `{"spec":{"template":{"spec":{"initContainers":[{"image":"busybox:2","name":"init"}]}}}}`,
			inverse: `update_image {"container":"init","image":"busybox:1"}`, summary: "Set the image of container init of Deployment web to busybox:2.",
			fields: []remediationv1.Change{{Path: "spec.template.spec.initContainers[init].image", From: `"busybox:1"`, To: `"busybox:2"`}}},
		"keys are added, changed and removed": {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{"a": "9", "new": ""}, "removeKeys": "c.properties,absent"},
			patch:   `{"data":{"a":"9","absent":null,"c.properties":null,"new":""}}`,
			inverse: `update_configmap {"data":{"a":"1","c.properties":"x=y"},"removeKeys":"absent,new"}`,
			summary: "Update ConfigMap settings: add new; change a; remove c.properties.",
			fields:  []remediationv1.Change{{Path: "data.a", From: `"1"`, To: `"9"`}, {Path: `data.c\.properties`, From: `"x=y"`}, {Path: "data.new", To: `""`}}},
		"a value that is too long to give back has no inverse": {builtin: "update_configmap", target: with(settings, `"1"`, strings.Repeat("x", 4097)), p: Params{"removeKeys": "a"},
			patch: `{"data":{"a":null}}`, summary: "Update ConfigMap settings: remove a.",
			caveat: "It cannot be taken back by update_configmap. Key a of parameter data has 4097 characters, and 4096 are the most.",
			fields: []remediationv1.Change{{Path: "data.a", From: `"` + strings.Repeat("x", 1020) + "…"}}},
		"a node is cordoned": {builtin: "cordon_node", target: freeNode,
			patch: `{"spec":{"unschedulable":true}}`, inverse: `uncordon_node {}`, summary: "Keep new pods off Node n1.",
			fields: []remediationv1.Change{{Path: "spec.unschedulable", To: "true"}}},
		"a node is uncordoned": {builtin: "uncordon_node", target: closedNode,
			patch: `{"spec":{"unschedulable":null}}`, inverse: `cordon_node {}`, summary: "Let new pods onto Node n1 again.",
			fields: []remediationv1.Change{{Path: "spec.unschedulable", From: "true"}}},
		"a pod is deleted": {builtin: "delete_pod", target: webPod, patch: "null", summary: "Delete Pod web-1; ReplicaSet web-5f makes another one.",
			caveat: "A deletion cannot be taken back.", fields: []remediationv1.Change{{Path: "metadata.uid", From: `"p1"`}}},
		"a pod is given time": {builtin: "delete_pod", target: webPod, p: Params{"gracePeriodSeconds": int64(60)}, patch: "null",
			summary: "Delete Pod web-1 with a grace period of 60 s; ReplicaSet web-5f makes another one.",
			caveat:  "A deletion cannot be taken back.", fields: []remediationv1.Change{{Path: "metadata.uid", From: `"p1"`}}},
		"a pod of nobody is deleted by force": {builtin: "delete_pod", target: with(webPod, "controller: true", "controller: false"), p: Params{"gracePeriodSeconds": int64(0)}, patch: "null",
			summary: "Delete Pod web-1 without waiting for its containers to end; no controller makes another one.",
			caveat:  "A deletion cannot be taken back.", fields: []remediationv1.Change{{Path: "metadata.uid", From: `"p1"`}}},
		"a node is drained": {builtin: "drain_node", target: freeNode, patch: `{"spec":{"unschedulable":true}}`, inverse: `uncordon_node {}`,
			summary: "Keep new pods off Node n1 and evict all pods but those of DaemonSets.",
			caveat:  "Its inverse lets new pods onto the node; those that were evicted do not come back.", fields: []remediationv1.Change{{Path: "spec.unschedulable", To: "true"}}},
		"a cordoned node is drained": {builtin: "drain_node", target: closedNode, p: Params{"force": true, "deleteEmptyDirData": true}, patch: `{"spec":{"unschedulable":true}}`,
			summary: "Evict all pods from Node n1 but those of DaemonSets, also those that lose emptyDir volumes and those that no controller makes again.",
			caveat:  "It cannot be taken back: the node was cordoned before, and pods that were evicted do not come back."},
	} {
		t.Run(say, func(t *testing.T) {
			got, err := Plan(c.builtin, object(t, c.target), c.p, execution)
			if err != nil {
				t.Fatal(err)
			}
			patch, _ := json.Marshal(got.Patch)
			inverse := ""
			if got.Inverse != nil {
				text, _ := json.Marshal(got.Inverse.Parameters)
				inverse = got.Inverse.Action + " " + string(text)
			}
			if diff := cmp.Diff([]string{c.patch, c.inverse, c.summary, c.caveat}, []string{string(patch), inverse, got.Summary, got.Caveat}); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.fields, got.Fields); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for say, c := range map[string]struct {
		builtin, target string
		p               Params
		want            string
	}{
		"an action that there is not":    {builtin: "burn", target: webOf2, want: `There is no built-in action "burn".`},
		"another kind":                   {builtin: "scale_deployment", target: dbOnDelete, p: Params{"replicas": int64(1)}, want: "Action scale_deployment takes Deployment, and not StatefulSet db of apps/v1."},
		"another group":                  {builtin: "scale_deployment", target: with(webOf2, "apps/v1", "apps.example/v1"), p: Params{"replicas": int64(1)}, want: "Action scale_deployment takes Deployment, and not Deployment web of apps.example/v1."},
		"a target that is being deleted": {builtin: "cordon_node", target: with(freeNode, "name: n1", `name: n1, deletionTimestamp: "2026-01-01T00:00:00Z"`), want: "Node n1 is being deleted."},
		"the same size":                  {builtin: "scale_deployment", target: webOf2, p: Params{"replicas": int64(2)}, want: "Deployment web already has 2 replicas: there is nothing to do."},
		"the same size of one":           {builtin: "scale_statefulset", target: dbOnDelete, p: Params{"replicas": int64(1)}, want: "StatefulSet db already has 1 replica: there is nothing to do."},
		"a size that is none":            {builtin: "scale_deployment", target: with(webOf2, "replicas: 2", "replicas: 1.5"), p: Params{"replicas": int64(3)}, want: "Deployment web has a number of replicas that is no integer."},
		"more than the action can":       {builtin: "scale_deployment", target: webOf2, p: Params{"replicas": int64(1001)}, want: "Parameter replicas is 1001, and 1000 is the most."},
		"parameters of another type":     {builtin: "scale_deployment", target: webOf2, p: Params{"replicas": "2"}, want: "Parameter replicas must be an integer without fraction or exponent."},
		"no parameters":                  {builtin: "scale_deployment", target: webOf2, want: "Parameter replicas is required."},
		"a restart of paused rollouts":   {builtin: "rollout_restart", target: with(webOf2, "replicas: 2", "replicas: 2, paused: true"), want: "The rollouts of Deployment web are paused: resume them first."},
		"an image of paused rollouts":    {builtin: "update_image", target: with(webOf2, "replicas: 2", "replicas: 2, paused: true"), p: Params{"container": "app", "image": "web:2"}, want: "The rollouts of Deployment web are paused: resume them first."},
		"a restart that nothing does":    {builtin: "rollout_restart", target: dbOnDelete, want: "StatefulSet db has the update strategy OnDelete: its pods restart only when they are deleted."},
		"a restart that was done":        {builtin: "rollout_restart", target: with(webOf2, "labels:", "annotations: {remediation.statecraft.dev/restarted-by: 3f0c}, labels:"), want: "Deployment web was restarted by this execution already."},
		"a target without a template":    {builtin: "rollout_restart", target: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}`, want: "Deployment web has no template of pods."},
		"an unknown container":           {builtin: "update_image", target: webOf2, p: Params{"container": "ap", "image": "web:2"}, want: "Deployment web has no container ap."},
		"the same image":                 {builtin: "update_image", target: webOf2, p: Params{"container": "app", "image": "web:1"}, want: "Container app of Deployment web already has the image web:1: there is nothing to do."},
		"an image that is an option":     {builtin: "update_image", target: webOf2, p: Params{"container": "app", "image": "--web:1"}, want: "Parameter image does not match the pattern [a-zA-Z0-9][-a-zA-Z0-9._/:@]* as a whole."},
		"a pod of an action":             {builtin: "delete_pod", target: with(webPod, "app: web", "remediation.statecraft.dev/execution: e1"), want: "Pod web-1 is that of an action: cancel its KubernetesExecution instead."},
		"a pod with its account":         {builtin: "delete_pod", target: with(webPod, "default", "statecraft-action-delete-pod"), want: "Pod web-1 is that of an action: cancel its KubernetesExecution instead."},
		"a pod that is being deleted":    {builtin: "delete_pod", target: with(webPod, "uid: p1", `uid: p1, deletionTimestamp: "2026-01-01T00:00:00Z"`), want: "Pod web-1 is being deleted."},
		"a static pod":                   {builtin: "delete_pod", target: with(webPod, "uid: p1", `uid: p1, annotations: {"kubernetes.io/config.mirror": x}`), want: "Pod web-1 mirrors a static pod of its node, which a deletion does not end."},
		"too long a grace period":        {builtin: "delete_pod", target: webPod, p: Params{"gracePeriodSeconds": int64(3601)}, want: "Parameter gracePeriodSeconds is 3601, and 3600 is the most."},
		"a cordoned node":                {builtin: "cordon_node", target: closedNode, want: "Node n1 is already cordoned: there is nothing to do."},
		"a node that is not cordoned":    {builtin: "uncordon_node", target: freeNode, want: "Node n1 is not cordoned: there is nothing to do."},
		"an immutable ConfigMap":         {builtin: "update_configmap", target: with(settings, "binaryData", "immutable: true, binaryData"), p: Params{"removeKeys": "a"}, want: "ConfigMap settings is immutable."},
		"no keys":                        {builtin: "update_configmap", target: settings, want: "Action update_configmap needs parameter data, or removeKeys, or both."},
		"no key in an object":            {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{}}, want: "Action update_configmap needs parameter data, or removeKeys, or both."},
		"a key that is set and removed":  {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{"a": "1"}, "removeKeys": "b,a"}, want: "Parameters data and removeKeys both name the key a."},
		"a key that is binary":           {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{"bin": "1"}}, want: "Key bin of ConfigMap settings is binary data, which the action does not change."},
		"a key that is none":             {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{"a/b": "1"}}, want: `"a/b" cannot be a key of a ConfigMap.`},
		"a key that leads upwards":       {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{"..": "1"}}, want: `".." cannot be a key of a ConfigMap.`},
		"values that are there":          {builtin: "update_configmap", target: settings, p: Params{"data": map[string]string{"a": "1"}, "removeKeys": "x"}, want: "ConfigMap settings is already so: there is nothing to do."},
		"a footprint that is too large": {builtin: "rollout_restart", target: with(webOf2, "value: x", "value: "+strings.Repeat("x", 17000)),
			want: "The fields that the action works on take 17242 bytes, and at most 16384 can be saved to take the action back."},
	} {
		t.Run(say, func(t *testing.T) {
			_, err := Plan(c.builtin, object(t, c.target), c.p, execution)
			if got := sayOf(err); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
