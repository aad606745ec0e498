package kube

// What the adapter itself needs, in every area: to tell events, to elect a leader
// in its own namespace, and to ask who may read metrics. An area that reserves
// targets needs more rights to Leases, see AreaSetup.Reserves.
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=events,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=statecraft-system,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
