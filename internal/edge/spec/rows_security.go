package spec

import corev1 "k8s.io/api/core/v1"

const noOther = "a device has its own default, and no other"

// securityRows are about both securityContexts.
var securityRows = []Row{
	nothing("containers[].securityContext"),
	honoured("containers[].securityContext.capabilities.drop[]", "cap_drop"),
	refused("containers[].securityContext.capabilities.add[]", "capabilities are not added on devices"),
	nothing("containers[].securityContext.capabilities"),
	refused("containers[].securityContext.privileged", "nothing runs privileged on devices").in("true", yes),
	honoured("containers[].securityContext.privileged", "nothing runs privileged on devices"),
	honoured("containers[].securityContext.runAsUser", "user"),
	honoured("containers[].securityContext.runAsGroup", "user").in("with runAsUser", hasUser),
	refused("containers[].securityContext.runAsGroup", "a group needs runAsUser"),
	refused("containers[].securityContext.runAsNonRoot", "whether the image runs as root is not known: set runAsUser").in("true, without runAsUser", mayBeRoot),
	honoured("containers[].securityContext.runAsNonRoot", "runAsUser says so"),
	honoured("containers[].securityContext.readOnlyRootFilesystem", "read_only"),
	honoured("containers[].securityContext.allowPrivilegeEscalation", "no-new-privileges, if false"),
	honoured("containers[].securityContext.procMount", "the default").in("Default", value(string(corev1.DefaultProcMount))),
	refused("containers[].securityContext.procMount", noOther),
	honoured("containers[].securityContext.seccompProfile", "the default of podman").in("RuntimeDefault", value(string(corev1.SeccompProfileTypeRuntimeDefault))),
	refused("containers[].securityContext.seccompProfile", noOther),
	refused("containers[].securityContext.appArmorProfile", noOther),
	refused("containers[].securityContext.seLinuxOptions", noOther),
	refused("containers[].securityContext.windowsOptions", "devices run Linux"),

	nothing("securityContext"),
	honoured("securityContext.runAsUser", "user"),
	honoured("securityContext.runAsGroup", "user").in("with runAsUser", hasUser),
	refused("securityContext.runAsGroup", "a group needs runAsUser"),
	refused("securityContext.runAsNonRoot", "whether the image runs as root is not known: set runAsUser").in("true, without runAsUser", mayBeRoot),
	honoured("securityContext.runAsNonRoot", "runAsUser says so"),
	honoured("securityContext.seccompProfile", "the default of podman").in("RuntimeDefault", value(string(corev1.SeccompProfileTypeRuntimeDefault))),
	refused("securityContext.seccompProfile", noOther),
	refused("securityContext.appArmorProfile", noOther),
	refused("securityContext.seLinuxOptions", noOther),
	refused("securityContext.seLinuxChangePolicy", noOther),
	refused("securityContext.windowsOptions", "devices run Linux"),
	refused("securityContext.supplementalGroups[]", "a container on a device has one group"),
	refused("securityContext.supplementalGroupsPolicy", "a container on a device has one group"),
	refused("securityContext.fsGroup", "a container on a device has one group"),
	refused("securityContext.fsGroupChangePolicy", "a container on a device has one group"),
	refused("securityContext.sysctls[]", "sysctls are not set on devices"),
}

// user is as whom the container runs, by itself or by the pod: nil is as the image says.
func (s subject) user() (user, group *int64) {
	if c := s.pod.Spec.SecurityContext; c != nil {
		user, group = c.RunAsUser, c.RunAsGroup
	}
	if c := s.container().SecurityContext; c != nil {
		if c.RunAsUser != nil {
			user = c.RunAsUser
		}
		if c.RunAsGroup != nil {
			group = c.RunAsGroup
		}
	}
	return user, group
}

func hasUser(s subject, _ leaf) bool {
	user, _ := s.user()
	return user != nil
}

// mayBeRoot says that the container must not run as root, and may.
func mayBeRoot(s subject, l leaf) bool {
	user, _ := s.user()
	return l.text() == "true" && (user == nil || *user == 0)
}
