package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ValkeyCluster is a Valkey cluster: shards that divide 16384 hash slots among
// them, each with one primary and its replicas.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=vkc,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.masters,statuspath=.status.masters,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Nodes",type=string,JSONPath=`.status.readyNodes`
// +kubebuilder:printcolumn:name="Slots",type=string,JSONPath=`.status.assignedSlots`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Version",type=string,priority=1,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 48",message="the name must be a DNS-1035 label of at most 48 characters: Services and the revisions of StatefulSets are named after it"
type ValkeyCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is the cluster that is wanted.
	// +optional
	// +kubebuilder:default={}
	Spec ValkeyClusterSpec `json:"spec,omitzero"`
	// status is the cluster as it was last seen.
	// +optional
	// +default={"observedGeneration":-1}
	Status ValkeyClusterStatus `json:"status,omitzero"`
}

// GetProgress is where the cluster stands.
func (c *ValkeyCluster) GetProgress() *meta.Progress { return &c.Status.Progress }

// ValkeyClusterList is a list of clusters.
//
// +kubebuilder:object:root=true
type ValkeyClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ValkeyCluster `json:"items"`
}

// ValkeyClusterSpec is the cluster that is wanted.
//
// +kubebuilder:validation:XValidation:rule="(has(self.persistence) && self.persistence.enabled) == (has(oldSelf.persistence) && oldSelf.persistence.enabled)",message="whether there are volumes is decided when a cluster is made: the claims of a StatefulSet cannot be changed"
// +kubebuilder:validation:XValidation:rule="has(self.tls) == has(oldSelf.tls)",message="tls is decided when a cluster is made: servers with and without it could not talk to each other"
// +kubebuilder:validation:XValidation:rule="has(self.auth) == has(oldSelf.auth)",message="auth is decided when a cluster is made"
// +kubebuilder:validation:XValidation:rule="!has(self.replication) || !has(self.replication.minReplicasToWrite) || self.replication.minReplicasToWrite == 0 || self.replication.minReplicasToWrite < self.replicasPerMaster",message="minReplicasToWrite must be 0 or less than replicasPerMaster: a planned failover takes one replica away for a moment"
type ValkeyClusterSpec struct {
	// masters is the number of shards, each with one primary: 3 to 250. Default 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=250
	Masters int32 `json:"masters,omitempty"`
	// replicasPerMaster is the number of replicas in each shard: 0 to 5. With 0 the
	// loss of one pod is the loss of its data. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	ReplicasPerMaster *int32 `json:"replicasPerMaster,omitempty"`
	// image is the container image of the servers, Valkey 8.0 or later. It must hold
	// valkey-server and valkey-cli. Default valkey/valkey:8.1.
	// +optional
	// +kubebuilder:default="valkey/valkey:8.1"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`
	// config holds further lines of valkey.conf: directive and value. Directives on
	// which the safety of the cluster rests are the operator's own and refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9-]{0,63}$'))",message="a directive is written in lower case letters, digits and dashes"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('tls-') || k.startsWith('cluster-') || k.startsWith('repl-') || k.startsWith('replica-') || k.startsWith('slave-'))",message="directives that begin with cluster-, repl-, replica-, slave- or tls- are the operator's own"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k in ['bind','bind-source-addr','port','unixsocket','unixsocketperm','protected-mode','daemonize','supervised','pidfile','logfile','syslog-enabled','dir','dbfilename','appendonly','appenddirname','appendfilename','save','databases','aclfile','user','requirepass','primaryauth','primaryuser','masterauth','masteruser','replicaof','slaveof','min-replicas-to-write','min-replicas-max-lag','min-slaves-to-write','min-slaves-max-lag','include','loadmodule','rename-command','enable-debug-command','enable-module-command','enable-protected-configs','client-output-buffer-limit','maxmemory','shutdown-timeout','shutdown-on-sigint','shutdown-on-sigterm'])",message="this directive is the operator's own: identity, paths, persistence, replication, access and shutdown are not settings"
	Config map[string]ConfigValue `json:"config,omitempty"`
	// nodeTimeoutSeconds is how long, in seconds, a server may be out of reach before
	// the others call it failing: 1 to 300. Default 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	NodeTimeoutSeconds int32 `json:"nodeTimeoutSeconds,omitempty"`
	// resources of each server's container. A memory limit also sets maxmemory, to
	// three quarters of it. Default none.
	// +optional
	Resources Resources `json:"resources,omitzero"`
	// persistence gives servers volumes. Default none.
	// +optional
	Persistence Persistence `json:"persistence,omitzero"`
	// replication is what primaries ask of their replicas.
	// +optional
	Replication Replication `json:"replication,omitzero"`
	// scheduling says where pods may run.
	// +optional
	Scheduling Scheduling `json:"scheduling,omitzero"`
	// pods is what pods bear and need besides.
	// +optional
	Pods Pods `json:"pods,omitzero"`
	// slotMigration says how slots are moved when the number of shards changes.
	// +optional
	SlotMigration SlotMigration `json:"slotMigration,omitzero"`
	// podDisruptionBudget says how many pods may be drained at a time.
	// +optional
	PodDisruptionBudget DisruptionBudget `json:"podDisruptionBudget,omitzero"`
	// terminationGracePeriodSeconds is how long a pod may take to stop: 60 to 86400. A server that holds the only
	// copy of data in memory uses it to wait for a replica, and then hands over. Default 120.
	// +optional
	// +kubebuilder:default=120
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds int32 `json:"terminationGracePeriodSeconds,omitempty"`
	// onTotalLoss says what is done when every server of a shard, or of all, comes back empty:
	// Fail waits for a person, Recreate makes an empty shard, or an empty cluster. Default Fail.
	// +optional
	// +kubebuilder:default=Fail
	OnTotalLoss OnTotalLoss `json:"onTotalLoss,omitempty"`
	// tls encrypts everything. It is decided when a cluster is made. Default none.
	// +optional
	TLS *TLS `json:"tls,omitempty"`
	// auth makes every client log on with a password. It is decided when a cluster is made.
	// Default none.
	// +optional
	Auth *Auth `json:"auth,omitempty"`
	// maintenance says when the operator may restart servers for reasons of its own, as a new version of it may have.
	// Default at any time.
	// +optional
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	// approvePlan lets a change of size, alone or together with others, wait until a person
	// has approved status.plan: status.waitingFor shows the command. Default false.
	// +optional
	ApprovePlan bool `json:"approvePlan,omitempty"`
	// paused keeps the operator from changing anything: it goes on observing and
	// reporting. Default false.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// ConfigValue is the rest of one line of valkey.conf.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^[^\r\n]+$`
type ConfigValue string

// Resources is what a container asks for and may use, as in a pod.
type Resources struct {
	// requests is what the scheduler sets aside.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// limits is what the container may not exceed.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Limits corev1.ResourceList `json:"limits,omitempty"`
}
