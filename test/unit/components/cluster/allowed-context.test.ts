import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AllowedContext, GuardError } from "../../../../chaos/cluster/guard";
import { allowedContext } from "../../../../components/cluster/allowed-context";
import { KubeconfigError, loadKubeconfig } from "../../../../chaos/cluster/kubeconfig";
import { runAs } from "../../../support/running-stack";
import { scratchFolder } from "../../../support/scratch";

beforeEach(() => runAs("local"));

const usual = { KUBECONFIG: process.env.KUBECONFIG, HOME: process.env.HOME };
const scratch = scratchFolder();
afterEach(() => {
    for (const [name, value] of Object.entries(usual)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    }
});

/** A kubeconfig as its tool writes it. */
const kubeconfig = (name: string) => join(__dirname, "kubeconfigs", `${name}.yaml`);

/** What becomes of a stack that names a context, or none, where `KUBECONFIG` names these files. */
function decide(files: string[], named?: string, stack?: string): AllowedContext {
    process.env.KUBECONFIG = files.join(delimiter);
    return allowedContext(loadKubeconfig(), named, stack);
}

/** A file with one context. */
function leadingTo(context: string, server: string): string {
    const file = join(scratch, "config.json");
    const clusters = [{ name: "c", cluster: { server } }];
    writeFileSync(
        file,
        JSON.stringify({
            clusters,
            users: [{ name: "u", user: {} }],
            contexts: [{ name: context, context: { cluster: "c", user: "u" } }],
            "current-context": context,
        }),
    );
    return file;
}

describe("a context that is plainly local may be touched without being named", () => {
    it.each([
        ["kind", "kind-kind", "https://127.0.0.1:39123", "kind"],
        ["minikube", "minikube", "https://192.168.49.2:8443", "minikube"],
        ["k3d", "k3d-demo", "https://0.0.0.0:6550", "k3d"],
        ["docker-desktop", "docker-desktop", "https://kubernetes.docker.internal:6443", "Docker Desktop"],
        ["rancher-desktop", "rancher-desktop", "https://127.0.0.1:6443", "Rancher Desktop"],
        ["sandbox", "chaos-shop-sandbox", "https://198.18.0.2:6443", "sandbox"],
    ])("as %s creates it", (file, name, server, local) => {
        expect(decide([kubeconfig(file)])).toEqual({ name, server, local });
    });

    it.each([
        ["minikube", "https://127.0.0.1:53412"],
        ["minikube", "https://172.17.220.5:8443"],
        ["kind-ipv6", "https://[::1]:39123"],
        ["docker-for-desktop", "https://localhost:6445"],
        ["k3d-demo", "https://host.docker.internal:6550"],
    ])("%s at %s", (context, server) =>
        expect(decide([leadingTo(context, server)])).toMatchObject({ name: context, local: expect.any(String) }),
    );
});

describe("a context that leads through the environment's proxy", () => {
    it("is not plainly local, as with a proxy-url; NO_PROXY makes it so", () => {
        const [name, server] = ["minikube", "https://192.168.49.2:8443"];
        vi.stubEnv("HTTPS_PROXY", "http://proxy.example:3128");
        expect(() => decide([leadingTo(name, server)])).toThrow(
            `the current context "${name}" (${server}, through a proxy) is not plainly a local cluster`,
        );
        vi.stubEnv("NO_PROXY", "192.168.49.0/24");
        expect(decide([leadingTo(name, server)])).toMatchObject({ local: "minikube" });
        vi.unstubAllEnvs();
    });
});

describe("any other context is refused until the stack names it, with the command that names it", () => {
    it.each([
        ["eks", "arn:aws:eks:eu-central-1:123456789012:cluster/production"],
        ["gke", "gke_my-project_europe-west1_production"],
        ["aks", "production"],
        ["exec-plugin", "jane@company"],
        ["several", "production"],
        ["proxied", "kind-kind"],
    ])("in kubeconfig %s", (file, context) => {
        expect(() => decide([kubeconfig(file)])).toThrow(GuardError);
        expect(() => decide([kubeconfig(file)])).toThrow(`the current context "${context}"`);
        expect(() => decide([kubeconfig(file)])).toThrow(
            "Nothing was touched. If the shop and its experiments may run there: npx pulumi config set " +
                `kube.context ${context}`,
        );
        expect(decide([kubeconfig(file)], context)).toMatchObject({ name: context, local: undefined });
    });

    it.each([
        ["kind-prod", "https://34.90.1.2"],
        ["kind-prod", "https://10.20.0.1:6443"],
        ["kind-kind", "https://kind.example.com"],
        ["kind-kind", "https://127.0.0.1.example.com"],
        ["minikube", "https://34.90.1.2:8443"],
        ["k3d-prod", "https://192.168.1.20:6443"],
        ["docker-desktop", "https://docker-desktop.example.com:6443"],
        ["rancher-desktop", "https://[2001:db8::1]:6443"],
        ["chaos-shop-sandbox", "https://198.51.100.7:6443"],
        ["company", "https://127.0.0.1:6443"],
        ["not-kind-kind", "https://127.0.0.1:6443"],
    ])("%s at %s, which has the name or the address of a local cluster, but not both", (context, server) => {
        const file = leadingTo(context, server);
        expect(() => decide([file])).toThrow(`: npx pulumi config set kube.context ${context}`);
        expect(decide([file], context)).toMatchObject({ name: context, server, local: undefined });
    });
});

describe("a named context", () => {
    it("is used instead of the current one", () =>
        expect(decide([kubeconfig("several")], "kind-kind")).toMatchObject({ name: "kind-kind", local: "kind" }));

    it("that does not exist is refused, with a list of those that do", () => {
        expect(() => decide([kubeconfig("several")], "kind")).toThrow(
            new RegExp(
                'kube\\.context is "kind".*allowed: production, kind-kind, minikube: .*' +
                    "name one with `npx pulumi config set kube\\.context NAME --stack local`",
            ),
        );
    });
});

describe("several kubeconfig files", () => {
    it("are merged, and the first one decides the current context, as with kubectl", () => {
        expect(decide([kubeconfig("kind"), kubeconfig("gke")])).toMatchObject({ name: "kind-kind", local: "kind" });
        expect(() => decide([kubeconfig("gke"), kubeconfig("kind")])).toThrow(GuardError);
        expect(decide([kubeconfig("gke"), kubeconfig("kind")], "kind-kind")).toMatchObject({
            name: "kind-kind",
            local: "kind",
        });
    });
    it("may describe the same cluster, and the first one decides", () => {
        expect(decide([kubeconfig("kind"), leadingTo("kind-kind", "https://34.90.1.2")])).toMatchObject({
            server: "https://127.0.0.1:39123",
            local: "kind",
        });
    });
    it("may be missing or empty, as long as one is not", () => {
        expect(
            decide([join(scratch, "gone"), kubeconfig("empty"), kubeconfig("no-current"), kubeconfig("kind")]),
        ).toMatchObject({ name: "kind-kind" });
    });
});

describe("without a cluster to use, the error says how to get one", () => {
    it.each([
        ["a kubeconfig without contexts", [kubeconfig("none")], /no current context/],
        ["an empty file", [kubeconfig("empty")], /no current context/],
        ["no current context", [kubeconfig("no-current")], /no current context/],
        [
            "a current context that does not exist",
            [kubeconfig("current-gone")],
            /current context is "kind-deleted", which the kubeconfig does not have; allowed: kind-kind/,
        ],
        [
            "a cluster that is not described",
            [kubeconfig("cluster-gone")],
            /cluster "gone", which the kubeconfig does not describe/,
        ],
        [
            "a cluster without a server, beside one without a name",
            [kubeconfig("no-server")],
            /cluster "minikube", which the kubeconfig does not describe/,
        ],
    ])("%s", (_what, files, reason) => {
        expect(() => decide(files)).toThrow(GuardError);
        expect(() => decide(files)).toThrow(reason);
        expect(() => decide(files)).toThrow(
            /npm run sandbox -- up.*kind.*minikube.*npx pulumi config set kube\.context NAME/,
        );
    });

    it("no file at all", () => {
        delete process.env.KUBECONFIG;
        process.env.HOME = scratch;
        expect(() => allowedContext(loadKubeconfig(), undefined)).toThrow(/no current context.*npm run sandbox -- up/);
        expect(() => allowedContext(loadKubeconfig(), "production")).toThrow(
            /kube\.context is "production".*no context at all/,
        );
    });
});

it("a context whose login is not supported is refused with its name", () =>
    expect(() => decide([kubeconfig("auth-provider")])).toThrow(
        'the auth-provider openstack of user "minikube" is not supported; use an exec plugin',
    ));

describe("a kubeconfig that cannot be read is reported by its file name, and never quoted", () => {
    it.each([
        [
            "broken YAML",
            [kubeconfig("broken")],
            /broken\.yaml cannot be read: .* in line \d+; fix it, or set KUBECONFIG to another file/,
        ],
        ["broken YAML beside a good one", [kubeconfig("kind"), kubeconfig("broken")], /broken\.yaml cannot be read/],
        ["a folder", [scratch], /cannot be read: EISDIR/],
        [
            "a file that does not exist",
            [join(scratch, "gone")],
            /KUBECONFIG is ".*gone", which does not exist; set it to a file that does, or unset it/,
        ],
    ])("%s", (_what, files, reason) => {
        expect(() => decide(files)).toThrow(KubeconfigError);
        expect(() => decide(files)).toThrow(reason);
        try {
            decide(files);
        } catch (error) {
            expect((error as Error).message).not.toContain("t0k3n");
        }
    });

    it("a text that is no kubeconfig counts as one without contexts", () =>
        expect(() => decide([kubeconfig("text")])).toThrow(/no current context/));
});

it("a context's name is quoted for a shell where it must be, and the command names the stack", () => {
    expect(() => decide([leadingTo("it's mine", "https://34.90.1.2")], undefined, "cloud")).toThrow(
        `npx pulumi config set kube.context 'it'"'"'s mine' --stack cloud`,
    );
});
