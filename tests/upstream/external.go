package util

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	kubeschedulerconfigv1 "k8s.io/kube-scheduler/config/v1"
	kubeschedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	kubeschedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/test/utils/client-go/ktesting"
)

const (
	startLimit = 60 * time.Second // until the scheduler must be ready
	stopLimit  = 10 * time.Second // from SIGTERM to SIGKILL
)

// startExternalScheduler runs the shell command in $EXTERNAL_SCHEDULER where the tests would start kube-scheduler in
// their own process. The channel is closed once the command has ended.
//
// The command sees KUBECONFIG, FEATURE_GATES (A=true,B=false), FILTER_TIMEOUT and BINDING_TIMEOUT (Go durations, empty
// unless the test sets them), SCHEDULER_CONFIG (a file with the whole KubeSchedulerConfiguration) and HEALTH_PORT. It
// counts as started once http://127.0.0.1:$HEALTH_PORT/readyz answers 200.
//
// It runs in a process group of its own. While it runs, $EXTERNAL_SCHEDULER_LOGS holds a file *.pid with the group's
// number beside its log, so that whoever ends this program early can end the command too.
func startExternalScheduler(tCtx ktesting.TContext, command string, cfg *kubeschedulerconfig.KubeSchedulerConfiguration, factory informers.SharedInformerFactory) <-chan struct{} {
	schedulermetrics.Register() // scheduler_perf reads some of them
	dir, err := os.MkdirTemp("", "external-scheduler-")
	tCtx.ExpectNoError(err, "temporary folder")
	port := freePort(tCtx)
	environment := append(os.Environ(),
		"KUBECONFIG="+writeKubeconfig(tCtx, filepath.Join(dir, "kubeconfig")),
		"FEATURE_GATES="+featureGates(),
		fmt.Sprintf("HEALTH_PORT=%d", port),
		"SCHEDULER_CONFIG="+writeConfig(tCtx, cfg, filepath.Join(dir, "config.yaml")),
	)
	environment = append(environment, timeouts(cfg)...)

	base := filepath.Join(dir, "scheduler")
	if logs := os.Getenv("EXTERNAL_SCHEDULER_LOGS"); logs != "" {
		base = filepath.Join(logs, strings.NewReplacer("/", "_", " ", "_").Replace(tCtx.Name())+fmt.Sprintf("-%d", port))
	}
	output, err := os.Create(base + ".log")
	tCtx.ExpectNoError(err, "log file")
	cmd := exec.Command("sh", "-c", "exec "+command)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tCtx.ExpectNoError(cmd.Start(), "start "+command)
	_ = os.WriteFile(base+".pid", []byte(fmt.Sprintf("%d\n", cmd.Process.Pid)), 0o600)

	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = os.Remove(base + ".pid")
		_ = output.Close()
		_ = os.RemoveAll(dir)
		close(done)
	}()
	go func() {
		<-tCtx.Done()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(stopLimit):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
	waitUntilReady(tCtx, port, done, base+".log")

	// What runs in this process asks the factory for pods.
	factory.Core().V1().Pods().Informer()
	factory.Start(tCtx.Done())
	factory.WaitForCacheSync(tCtx.Done())
	return done
}

func waitUntilReady(tCtx ktesting.TContext, port int, done <-chan struct{}, log string) {
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		select {
		case <-done:
			tCtx.Fatalf("the external scheduler ended before it was ready, see %s", log)
		default:
		}
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", port))
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
	}
	tCtx.Fatalf("the external scheduler was not ready within %v, see %s", startLimit, log)
}

func freePort(tCtx ktesting.TContext) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	tCtx.ExpectNoError(err, "free port")
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

func timeouts(cfg *kubeschedulerconfig.KubeSchedulerConfiguration) []string {
	filter, binding := "", ""
	for _, profile := range cfg.Profiles {
		for _, plugin := range profile.PluginConfig {
			args, ok := plugin.Args.(*kubeschedulerconfig.DynamicResourcesArgs)
			if !ok {
				continue
			}
			if args.FilterTimeout != nil {
				filter = args.FilterTimeout.Duration.String()
			}
			if args.BindingTimeout != nil {
				binding = args.BindingTimeout.Duration.String()
			}
		}
	}
	return []string{"FILTER_TIMEOUT=" + filter, "BINDING_TIMEOUT=" + binding}
}

func writeConfig(tCtx ktesting.TContext, cfg *kubeschedulerconfig.KubeSchedulerConfiguration, path string) string {
	info, _ := runtime.SerializerInfoForMediaType(kubeschedulerscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	encoder := kubeschedulerscheme.Codecs.EncoderForVersion(info.Serializer, kubeschedulerconfigv1.SchemeGroupVersion)
	data, err := runtime.Encode(encoder, cfg)
	tCtx.ExpectNoError(err, "encode the configuration")
	tCtx.ExpectNoError(os.WriteFile(path, data, 0o600), "write the configuration")
	return path
}

// featureGates returns the gates that a scheduler for DRA may want to know, as the API server in this process has them.
func featureGates() string {
	var gates []string
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		gate := string(name)
		wanted := gate == "NodeDeclaredFeatures" || gate == "GangScheduling"
		for _, part := range []string{"DRA", "DynamicResource", "Workload", "PodGroup"} {
			wanted = wanted || strings.Contains(gate, part)
		}
		if wanted {
			gates = append(gates, fmt.Sprintf("%s=%t", gate, utilfeature.DefaultFeatureGate.Enabled(name)))
		}
	}
	sort.Strings(gates)
	return strings.Join(gates, ",")
}

func writeKubeconfig(tCtx ktesting.TContext, path string) string {
	from := tCtx.RESTConfig()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = cluster(from)
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		Token: from.BearerToken, ClientCertificate: from.CertFile, ClientCertificateData: from.CertData,
		ClientKey: from.KeyFile, ClientKeyData: from.KeyData,
	}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	tCtx.ExpectNoError(clientcmd.WriteToFile(*config, path), "write the kubeconfig")
	return path
}

func cluster(from *restclient.Config) *clientcmdapi.Cluster {
	return &clientcmdapi.Cluster{
		Server: from.Host, CertificateAuthority: from.CAFile, CertificateAuthorityData: from.CAData,
		InsecureSkipTLSVerify: from.Insecure, TLSServerName: from.ServerName,
	}
}
