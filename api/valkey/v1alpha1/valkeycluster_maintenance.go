package v1alpha1

// Maintenance is when the operator may restart servers although nobody edited the spec: a new version of it may make
// pods otherwise. What a user asks for is done at once, and a restart that has begun is finished.
type Maintenance struct {
	// timeZone in which windows are given, by its name in the IANA database, for example Europe/Vienna. Default UTC.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+/-]*$`
	// +kubebuilder:validation:XValidation:rule="self != 'Local'",message="name a zone: Local is that of the machine that the manager happens to run on"
	TimeZone string `json:"timeZone,omitempty"`
	// windows in which such a restart may begin.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=14
	Windows []MaintenanceWindow `json:"windows"`
}

// MaintenanceWindow opens at the same time on some days of every week.
type MaintenanceWindow struct {
	// days on which the window opens: Mon, Tue, Wed, Thu, Fri, Sat, Sun. Default all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days,omitempty"`
	// start is when it opens, as hours and minutes: 02:30. On a day that does not have this time, because clocks are
	// set forward, it opens an hour later.
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Start string `json:"start"`
	// duration is how long it stays open, 15m to 24h, also past midnight: 3h, or 1h30m.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:Pattern=`^([0-9]{1,2}h)?([0-9]{1,4}m)?$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('15m') && duration(self) <= duration('24h')",message="a window is open for 15m to 24h"
	Duration string `json:"duration"`
}

// Weekday is a day of the week.
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Weekday string

// PodFields is what the spec asks of pods, as it was last seen. By it an edit is told from another version of the
// operator, or another default, which make other pods of the same spec.
type PodFields struct {
	// generation of the spec.
	Generation int64 `json:"generation"`
	// hash of the fields of the spec that pods are made of.
	// +kubebuilder:validation:MaxLength=32
	Hash string `json:"hash"`
	// edited says that a user changed them, and that not every shard was brought to the change yet.
	// +optional
	Edited bool `json:"edited,omitempty"`
}
