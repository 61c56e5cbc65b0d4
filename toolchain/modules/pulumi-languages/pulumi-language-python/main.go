// A stand-in for Pulumi's language host of Python, which only a release of Pulumi has: with what its modules publish,
// it runs programs, and adds packages to them, by the toolchain that a project names.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// The exit code of the SDK's program for "failed, and the error was printed".
const errorWasPrinted = 32

type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	// Of the SDK's program that runs programs.
	executor string
	engine   string
	stopped  context.Context
	stop     context.CancelFunc
}

func main() {
	executable, err := os.Executable()
	exitOn(err)
	executable, err = filepath.EvalSymlinks(executable)
	exitOn(err)
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	served := &host{
		executor: filepath.Join(filepath.Dir(executable), "pulumi-language-python-exec"),
		stopped:  stopped,
		stop:     stop,
	}
	if last := os.Args[len(os.Args)-1]; len(os.Args) > 1 && !strings.HasPrefix(last, "-") {
		served.engine = last
	}
	end := make(chan bool)
	go func() {
		<-stopped.Done()
		close(end)
	}()
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: end,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, served)
			return nil
		},
	})
	exitOn(err)
	if served.engine != "" {
		exitOn(served.watchEngine())
	}
	fmt.Println(handle.Port)
	exitOn(<-handle.Done)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// An engine that was killed tells nobody.
func (host *host) watchEngine() error {
	return rpcutil.Healthcheck(host.stopped, host.engine, time.Minute, host.stop)
}

func (host *host) Handshake(
	_ context.Context, request *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	host.engine = request.EngineAddress
	return &pulumirpc.LanguageHandshakeResponse{}, host.watchEngine()
}

func (host *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	host.stop()
	return &emptypb.Empty{}, nil
}

func (host *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

// The engine learns the version of each provider from the resources that the program registers.
func (host *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// The toolchain and the virtual environment that Pulumi.yaml names.
func toolsOf(info *pulumirpc.ProgramInfo) (toolchain.Toolchain, error) {
	named := info.Options.AsMap()
	options := toolchain.PythonOptions{Root: info.RootDirectory, ProgramDir: info.ProgramDirectory}
	options.Virtualenv, _ = named["virtualenv"].(string)
	switch named["toolchain"] {
	case "pip":
		options.Toolchain = toolchain.Pip
	case "poetry":
		options.Toolchain = toolchain.Poetry
	case "uv":
		options.Toolchain = toolchain.Uv
	}
	return toolchain.ResolveToolchain(options)
}

func (host *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	info := request.Info
	tools, err := toolsOf(info)
	if err != nil {
		return nil, err
	}
	if err := tools.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	ended, end := context.WithCancel(host.stopped)
	defer end()
	context.AfterFunc(ctx, end)
	program, err := tools.Command(ended, append(host.arguments(request), request.Args...)...)
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(request.Config)
	if err != nil {
		return nil, err
	}
	secrets, err := json.Marshal(append([]string{}, request.ConfigSecretKeys...))
	if err != nil {
		return nil, err
	}
	if program.Env == nil {
		program.Env = os.Environ()
	}
	program.Env = append(program.Env, "PULUMI_CONFIG="+string(settings), "PULUMI_CONFIG_SECRET_KEYS="+string(secrets))
	program.Stdout, program.Stderr = os.Stdout, os.Stderr
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) }
	program.WaitDelay = 5 * time.Second
	err = program.Run()
	if exit, isExit := err.(*exec.ExitError); isExit {
		if exit.ExitCode() == errorWasPrinted {
			return &pulumirpc.RunResponse{Bail: true}, nil
		}
		return &pulumirpc.RunResponse{Error: "Program ended with " + exit.String()}, nil
	}
	return &pulumirpc.RunResponse{}, err
}

func (host *host) arguments(request *pulumirpc.RunRequest) []string {
	arguments := []string{host.executor}
	for _, option := range [][2]string{
		{"monitor", request.MonitorAddress},
		{"engine", host.engine},
		{"organization", request.Organization},
		{"project", request.Project},
		{"root_directory", request.Info.RootDirectory},
		{"stack", request.Stack},
		{"pwd", request.Info.ProgramDirectory},
		{"dry_run", strconv.FormatBool(request.DryRun)},
		{"parallel", strconv.Itoa(int(request.Parallel))},
	} {
		if option[1] != "" {
			arguments = append(arguments, "--"+option[0], option[1])
		}
	}
	return append(arguments, request.Info.EntryPoint)
}

func (host *host) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	tools, err := toolsOf(request.Info)
	if err != nil {
		return err
	}
	return installWith(tools, request, server)
}

func installWith(
	tools toolchain.Toolchain, request *pulumirpc.InstallDependenciesRequest,
	server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	streams, out, errors, err := rpcutil.MakeInstallDependenciesStreams(server, request.IsTerminal)
	if err != nil {
		return err
	}
	defer closing(streams)
	return tools.InstallDependencies(server.Context(), request.Info.ProgramDirectory, false, true, out, errors)
}

func closing(streams io.Closer) { _ = streams.Close() }

// Writes the SDK of a package, for `pulumi package add`.
func (host *host) GeneratePackage(
	_ context.Context, request *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, err := schema.NewLoaderClient(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(request.Schema), &spec); err != nil {
		return nil, err
	}
	pack, diagnostics, err := schema.BindSpec(spec, loader, schema.ValidationOptions{AllowDanglingReferences: true})
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)}
	if diagnostics.HasErrors() {
		return response, nil
	}
	files, err := python.GeneratePackage("pulumi-language-python", pack, request.ExtraFiles, loader)
	if err != nil {
		return nil, err
	}
	for name, text := range files {
		path := filepath.Join(request.Directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// Makes generated SDKs dependencies of a program.
func (host *host) Link(ctx context.Context, request *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
	tools, err := toolsOf(request.Info)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	modules := []string{}
	for _, dependency := range request.Packages {
		module, err := moduleIn(filepath.Join(request.Info.RootDirectory, dependency.Path))
		if err != nil {
			return nil, err
		}
		paths[module] = dependency.Path
		modules = append(modules, "  import "+module)
	}
	if err := tools.LinkPackages(ctx, paths); err != nil {
		return nil, err
	}
	instructions := "You can import the SDK in your Python code with:\n\n" + strings.Join(modules, "\n") + "\n"
	return &pulumirpc.LinkResponse{ImportInstructions: instructions}, nil
}

// The Python package in the folder of an SDK: the folder that has an __init__.py.
func moduleIn(folder string) (string, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*", "__init__.py"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s has %d Python packages, not one", folder, len(found))
	}
	return filepath.Base(filepath.Dir(found[0])), nil
}
