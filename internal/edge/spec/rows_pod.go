package spec

import corev1 "k8s.io/api/core/v1"

const (
	byScheduler = "the scheduler does it"
	noToken     = "no token of a service account is delivered"
)

// podRows are about the pod as a whole, but for its securityContext, its containers and its volumes.
var podRows = []Row{
	refused("initContainers[]", "a pod on a device has one container"),
	refused("ephemeralContainers[]", "a pod on a device has one container"),

	honoured("nodeName", byScheduler),
	honoured("nodeSelector", byScheduler),
	honoured("affinity", byScheduler),
	honoured("tolerations[]", byScheduler),
	honoured("topologySpreadConstraints[]", byScheduler),
	honoured("schedulerName", byScheduler),
	honoured("schedulingGates[]", byScheduler),
	honoured("schedulingGroup", byScheduler),
	honoured("priority", byScheduler),
	honoured("priorityClassName", byScheduler),
	honoured("preemptionPolicy", byScheduler),
	honoured("readinessGates[]", "the pod is Ready only with them"),

	honoured("restartPolicy", "restart: always").in("Always", value(string(corev1.RestartPolicyAlways))),
	refused("restartPolicy", "that a container has ended is not told by devices"),
	honoured("terminationGracePeriodSeconds", "stop_grace_period; a device whose compose tool is podman-compose gives the ten seconds of podman"),
	refused("activeDeadlineSeconds", "a device ends no pod at a time"),
	honoured("hostname", "hostname, which is else the name of the pod"),
	honoured("hostnameOverride", "hostname"),
	leftOut("subdomain", "no name of the cluster leads to a pod on a device"),
	refused("setHostnameAsFQDN", "a device knows no domain of the cluster").in("true", yes),
	honoured("setHostnameAsFQDN", "the default"),
	leftOut("dnsPolicy", "the pod asks the name servers of its device, and finds no name of the cluster").in("ClusterFirst", value(string(corev1.DNSClusterFirst))),
	honoured("dnsPolicy", "the pod asks the name servers of its device").in("Default", value(string(corev1.DNSDefault))),
	refused("dnsPolicy", "the pod asks the name servers of its device"),
	refused("dnsConfig", "the pod asks the name servers of its device"),
	refused("hostAliases[]", "names of hosts are not added on devices"),
	leftOut("enableServiceLinks", "no Service of the cluster is reached from a device, so there are no variables of Services").in("true", yes),
	honoured("enableServiceLinks", "there are none"),
	leftOut("imagePullSecrets[]", "the agent pulls with the credentials of its device"),
	leftOut("serviceAccountName", noToken).silent(),
	leftOut("serviceAccount", noToken).silent(),
	leftOut("automountServiceAccountToken", noToken).silent(),

	refused("hostNetwork", "pods do not share the network of a device"),
	refused("hostPID", "pods do not see the processes of a device"),
	refused("hostIPC", "pods do not share the memory of a device"),
	refused("hostUsers", "devices map no users").in("false", value("false")),
	honoured("hostUsers", "the default"),
	refused("shareProcessNamespace", "a pod on a device has one container").in("true", yes),
	honoured("shareProcessNamespace", "the default"),
	refused("runtimeClassName", "a device has one runtime"),
	refused("overhead", "a device has one runtime"),
	honoured("os.name", "devices run Linux").in("linux", value(string(corev1.Linux))),
	refused("os", "devices run Linux"),
	refused("resources", "set the resources of the container"),
	refused("resourceClaims[]", "devices have no dynamic resources"),
	refused("evictionResponders[]", "the pod's eviction is asked of it by deletion, and of nothing else"),
}
