import { rmSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect, messageOf } from "../../../../chaos/cluster/client";
import { guardedContext } from "../../../../chaos/cluster/guard";
import { KubeconfigError, loadKubeconfig } from "../../../../chaos/cluster/kubeconfig";
import { problemOf } from "../../../../chaos/cluster/problem";
import { kubectl } from "../../../../chaos/values/kubectl";
import { askApiServer } from "../../../../chaos/kinds/checks/request";
import { runWithin } from "../../../../chaos/cluster/run-within";
import { certificate, folder, giving, key, LoginServer, proxies, runsOf, write, writePlugin } from "./login-server";
import { otherResources } from "../../../../chaos/cluster/resources";

let server: LoginServer;
let count = 0;

beforeEach(async () => {
    server = await new LoginServer().start();
    count++;
});

afterEach(() => {
    vi.unstubAllEnvs();
    server.stop();
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Entries {
    user?: object;
    cluster?: object;
    contexts?: object[];
}

const exec = (command: string, more: object = {}) => ({
    exec: { apiVersion: "client.authentication.k8s.io/v1", command, interactiveMode: "Never", ...more },
});

/** Has kubectl's variable name a kubeconfig of the test's own folder, with the context `test`. */
function use({ user = {}, cluster = {}, contexts = [] }: Entries): string {
    const file = write(`${count}/config`, {
        clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority": "ca.pem", ...cluster } }],
        users: [{ name: "u", user }],
        contexts: [{ name: "test", context: { cluster: "c", user: "u" } }, ...contexts],
    });
    write(`${count}/ca.pem`, certificate);
    vi.stubEnv("KUBECONFIG", file);
    return dirname(file);
}

const ask = async () => connect({ context: "test" }).read({ resource: otherResources.namespace, name: "demo" });

const aPod = { namespace: "demo", pod: "a", container: "a" };

/** All ways by which the API server is asked: its clients, plain requests and WebSockets. */
async function askAllWays(context = "test"): Promise<void> {
    const cluster = connect({ context });
    await cluster.read({ resource: otherResources.namespace, name: "demo" });
    await askApiServer(cluster, "/api/v1/namespaces/demo", { agent: false, headers: { accept: "application/json" } });
    await expect(runWithin(cluster, aPod, ["true"])).rejects.toMatchObject({ message: expect.stringContaining("404") });
}

const thrice = <T>(value: T) => [value, value, value];
const bearing = (token: string) => ({ authorization: [`Bearer ${token}`] });
const problem = async () => ask().then(() => "none", problemOf);

describe("in a pod without a kubeconfig", () => {
    /** What Kubernetes gives a pod. */
    function beInPod(): void {
        const { hostname, port } = new URL(server.url);
        write(`${count}/account/ca.crt`, certificate);
        vi.stubEnv("KUBECONFIG", undefined);
        vi.stubEnv("HOME", write(`${count}/home/empty`, "").replace("/empty", ""));
        vi.stubEnv("KUBERNETES_SERVICE_HOST", hostname);
        vi.stubEnv("KUBERNETES_SERVICE_PORT", port);
        vi.stubEnv("ACCOUNT_FOLDER", dirname(write(`${count}/account/token`, "first")));
    }
    const naming = {
        key: "context",
        named: (context: string) => ({ code: `context: "${context}"` }),
        local: "kind",
        what: "experiments",
    };

    it("the cluster is that of its ServiceAccount, under the name that the message proposes", async () => {
        beInPod();
        const refused = () => guardedContext(loadKubeconfig(), undefined, naming);
        expect(refused).toThrow(/is not plainly a local .*If experiments may run there: context: "inClusterContext"$/);
        expect(guardedContext(loadKubeconfig(), "inClusterContext", naming)).toMatchObject({ server: server.url });
        await askAllWays("inClusterContext");
        expect(server.asked).toEqual(thrice(bearing("first")));
    });

    it("its token is read again when the kubelet renews it", async () => {
        beInPod();
        const cluster = connect({ context: "inClusterContext" });
        await cluster.read({ resource: otherResources.namespace, name: "demo" });
        write(`${count}/account/token`, "second");
        await cluster.read({ resource: otherResources.namespace, name: "demo" });
        expect(server.asked).toEqual([bearing("first"), bearing("second")]);
    });

    it("commands for a person name no context: kubectl does not know this one", () => {
        expect(kubectl({ context: "inClusterContext", namespace: "demo" })).toBe("kubectl --namespace demo");
    });

    it("no cluster is made up if the pod has no token, and a kubeconfig counts first", () => {
        beInPod();
        vi.stubEnv("ACCOUNT_FOLDER", folder);
        expect(loadKubeconfig().getContexts()).toEqual([]);
        beInPod();
        use({ user: { token: "own" } });
        expect(
            loadKubeconfig()
                .getContexts()
                .map(({ name }) => name),
        ).toEqual(["test"]);
    });
});

describe("tokenFile", () => {
    it("is relative to the kubeconfig, and read again when it changes", async () => {
        use({ user: { tokenFile: "secrets/token" } });
        write(`${count}/secrets/token`, "first\n");
        await askAllWays();
        expect(server.asked.splice(0)).toEqual(thrice(bearing("first")));
        const cluster = connect({ context: "test" });
        await cluster.read({ resource: otherResources.namespace, name: "demo" });
        write(`${count}/secrets/token`, "second\n");
        await cluster.read({ resource: otherResources.namespace, name: "demo" });
        expect(server.asked).toEqual([bearing("first"), bearing("second")]);
    });

    it("counts before a token beside it, which counts if the file is gone", async () => {
        use({ user: { tokenFile: "token", token: "beside" } });
        await ask();
        write(`${count}/token`, "first");
        await ask();
        expect(server.asked).toEqual([bearing("beside"), bearing("first")]);
    });

    it("that cannot be read, or is empty, is named", async () => {
        const home = use({ user: { tokenFile: "token" } });
        expect(await problem()).toMatch(`the tokenFile ${home}/token of user "u" cannot be read: ENOENT`);
        write(`${count}/token`, "\n");
        expect(await problem()).toMatch(`the tokenFile ${home}/token of user "u" is empty`);
    });

    it("may stand in another file of several than the context", async () => {
        const first = write(`${count}/first/config`, {
            contexts: [{ name: "test", context: { cluster: "c", user: "other" } }],
        });
        write(`${count}/second/token`, "second");
        const second = write(`${count}/second/config`, {
            clusters: [{ name: "c", cluster: { server: server.url, "insecure-skip-tls-verify": true } }],
            users: [{ name: "other", user: { tokenFile: "token" } }],
        });
        vi.stubEnv("KUBECONFIG", [first, write(`${count}/third`, { users: [] }), second].join(delimiter));
        await ask();
        expect(server.asked).toEqual([bearing("second")]);
    });
});

describe("an exec plugin", () => {
    it("is relative to the kubeconfig if its name has a slash, and is told no terminal", async () => {
        use({ user: exec("./login.sh") });
        writePlugin(`${count}/login.sh`, giving({ token: "mine" }));
        await askAllWays();
        expect(server.asked).toEqual(thrice(bearing("mine")));
        expect(runsOf(`${count}/login.sh`)).toEqual([
            {
                apiVersion: "client.authentication.k8s.io/v1",
                kind: "ExecCredential",
                spec: { interactive: false },
            },
        ]);
    });

    it("is searched in PATH if its name has no slash, and given arguments and variables", async () => {
        const home = use({ user: exec("my-login", { args: ["a b"], env: [{ name: "REALM", value: "test" }] }) });
        writePlugin(`${count}/my-login`, giving({ token: "TOKEN" }).replace("cat", 'sed "s/TOKEN/$REALM-$1/"'));
        vi.stubEnv("PATH", `${home}:${process.env.PATH}`);
        await ask();
        expect(server.asked).toEqual([bearing("test-a b")]);
    });

    it("with provideClusterInfo is told the cluster, with the text of its CA and its own settings", async () => {
        const extensions = [
            { name: "other", extension: { a: 1 } },
            { name: "client.authentication.k8s.io/exec", extension: { audience: "clusters" } },
        ];
        use({
            user: exec("./login.sh", { provideClusterInfo: true }),
            cluster: { extensions, "disable-compression": true },
        });
        writePlugin(`${count}/login.sh`, giving({ token: "mine" }));
        await ask();
        const cluster = {
            server: server.url,
            "certificate-authority-data": Buffer.from(certificate).toString("base64"),
            "disable-compression": true,
            config: { audience: "clusters" },
        };
        expect(runsOf(`${count}/login.sh`)).toMatchObject([{ spec: { interactive: false, cluster } }]);
        expect(runsOf(`${count}/login.sh`)[0]).not.toHaveProperty("spec.cluster.extensions");
    });

    it("may give a client certificate", async () => {
        use({ user: exec("./login.sh") });
        writePlugin(`${count}/login.sh`, giving({ clientCertificateData: certificate, clientKeyData: key }));
        await askAllWays();
        expect(server.asked).toEqual(thrice({ certificate: ["test"] }));
    });

    it("does not count beside a token", async () => {
        use({ user: { ...exec("./login.sh"), token: "beside" } });
        writePlugin(`${count}/login.sh`, giving({ token: "mine" }));
        await ask();
        expect(server.asked).toEqual([bearing("beside")]);
    });

    it.each([
        ["without an expiry", undefined, 1],
        ["not expired yet", "2999-01-01T00:00:00Z", 1],
        ["expired", "2020-01-01T00:00:00Z", 3],
    ])("runs as often as needed for credentials %s", async (_, expirationTimestamp, runs) => {
        use({ user: exec("./login.sh") });
        writePlugin(`${count}/login.sh`, giving({ token: "mine", expirationTimestamp }));
        await askAllWays();
        await askAllWays();
        expect(server.asked).toHaveLength(6);
        expect(runsOf(`${count}/login.sh`)).toHaveLength(runs === 1 ? 1 : 6);
    });

    it("runs once for calls that begin together", async () => {
        use({ user: exec("./login.sh") });
        writePlugin(`${count}/login.sh`, `sleep 0.2\n${giving({ token: "mine" })}`);
        const cluster = connect({ context: "test" });
        await Promise.all([1, 2, 3].map(() => cluster.read({ resource: otherResources.namespace, name: "demo" })));
        expect(server.asked).toHaveLength(3);
        expect(runsOf(`${count}/login.sh`)).toHaveLength(1);
    });

    it("runs again when the API server rejects what it gave, and the call succeeds", async () => {
        use({ user: exec("./login.sh") });
        const script = giving({ token: "TOKEN" }).replace("cat", `sed "s/TOKEN/$(wc -l < "$0.runs" | tr -d ' ')/"`);
        writePlugin(`${count}/login.sh`, script);
        await ask();
        server.onlyToken = "2";
        const cluster = connect({ context: "test" });
        await Promise.all([1, 2, 3].map(() => cluster.read({ resource: otherResources.namespace, name: "demo" })));
        expect(runsOf(`${count}/login.sh`)).toHaveLength(2);
        server.onlyToken = "3";
        const plain = async () =>
            (await askApiServer(connect({ context: "test" }), "/api/v1/namespaces/demo", { headers: {} })).status;
        expect([await plain(), await plain()]).toEqual([401, 200]);
        server.onlyToken = "4";
        const within = () => runWithin(connect({ context: "test" }), aPod, ["true"]).catch(messageOf);
        expect([await within(), await within()]).toEqual([/401$/, /404$/].map((one) => expect.stringMatching(one)));
    });

    it("runs twice at most if the API server rejects all that it gives", async () => {
        use({ user: exec("./login.sh") });
        writePlugin(`${count}/login.sh`, giving({ token: "mine" }));
        server.onlyToken = "other";
        expect(await problem()).toMatch(/rejects your credentials \(401\)/);
        expect(runsOf(`${count}/login.sh`)).toHaveLength(2);
    });

    const secret = `eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMzQ1Njc4OTAifQ.${"c2VjcmV0".repeat(8)}.${"x1_-".repeat(20)}`;

    it.each([
        [
            "that fails",
            `echo starting >&2; echo "the session has ended: run my-login login, not ${secret}" >&2; exit 3`,
            /^the exec plugin .*login\.sh of user "u" failed with exit code 3: .*: run my-login login/s,
        ],
        [
            "that fails with a key in Base64",
            `echo "the key ${"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"} is not known to ${secret}" >&2; exit 1`,
            /failed with exit code 1: “the key \[hidden\] is not known/,
        ],
        ["that fails in silence", `echo ${secret}; exit 1`, /failed with exit code 1$/],
        ["that gives no JSON", `echo ${secret}`, /gives no ExecCredential with a token/],
        ["that gives JSON of another form", `echo '{"status": "${secret}"}'`, /gives no ExecCredential with a token/],
        ["that gives nothing to log in with", giving({ user: secret }), /gives no ExecCredential with a token/],
    ])("%s is named, and what it gives is not shown", async (_, script, reason) => {
        use({ user: exec("./login.sh") });
        writePlugin(`${count}/login.sh`, script);
        const told = await problem();
        expect(told).toMatch(reason);
        for (const part of secret.split(".")) expect(told).not.toContain(part);
    });

    it("that is not installed is named, with its kubeconfig's hint", async () => {
        use({ user: exec("my-login", { installHint: "Install it with: apt install my-login" }) });
        expect(await problem()).toMatch(
            /^the exec plugin my-login of user "u" is not installed\. The kubeconfig says: “Install it with: apt/s,
        );
        use({ user: exec("./login.sh") });
        write(`${count}/login.sh`, "");
        expect(await problem()).toMatch(/login\.sh of user "u" cannot be run: EACCES/);
    });
});

describe("impersonation", () => {
    it("leaves a call's own options as they are, such as the type of a patch", async () => {
        use({ user: { token: "mine", as: "ada" } });
        await connect({ context: "test" }).patch({ resource: otherResources.namespace, name: "demo" }, {});
        expect(server.contentTypes).toEqual(["application/merge-patch+json"]);
        expect(server.asked).toEqual([{ ...bearing("mine"), "impersonate-user": ["ada"] }]);
    });

    it("names user, UID, groups and further attributes, each value in its own header", async () => {
        use({
            user: {
                token: "mine",
                as: "ada",
                "as-uid": "7",
                "as-groups": ["one", "two, three"],
                "as-user-extra": { scopes: ["read", "write"], "acme.com/Project (ü)%": ["p"] },
            },
        });
        await askAllWays();
        expect(server.asked).toEqual(
            thrice({
                ...bearing("mine"),
                "impersonate-user": ["ada"],
                "impersonate-uid": ["7"],
                "impersonate-group": ["one", "two, three"],
                "impersonate-extra-scopes": ["read", "write"],
                "impersonate-extra-acme.com%2fproject%20%28%c3%bc%29%25": ["p"],
            }),
        );
    });

    it("goes with the token of a plugin, also when that is renewed", async () => {
        use({ user: { ...exec("./login.sh"), as: "ada", "as-groups": ["one", "two"] } });
        writePlugin(`${count}/login.sh`, giving({ token: "mine" }));
        server.onlyToken = "other";
        await problem();
        const asked = { ...bearing("mine"), "impersonate-user": ["ada"], "impersonate-group": ["one", "two"] };
        expect(server.asked).toEqual([asked, asked]);
    });
});

describe("a cluster", () => {
    it.each(["http", "socks5"] as const)("is reached through its proxy-url by all ways: %s", async (scheme) => {
        const proxy = await proxies[scheme]();
        use({ user: { token: "mine" }, cluster: { "proxy-url": proxy.url } });
        await askAllWays();
        const elsewhere = server.url.replace("127.0.0.1", "127.0.0.2");
        use({ user: { token: "mine" }, cluster: { "proxy-url": proxy.url, server: elsewhere } });
        expect(await problem()).toMatch(/does not match certificate's altnames: .*127\.0\.0\.2/);
        proxy.stop();
        expect(server.asked).toEqual(thrice(bearing("mine")));
        expect(proxy.reached).toEqual([...thrice(new URL(server.url).host), new URL(elsewhere).host]);
    });

    it("without one is reached through the environment's proxy, unless that is to leave it out", async () => {
        const proxy = await proxies.http();
        const elsewhere = `198.51.100.7:${new URL(server.url).port}`;
        const ca = { "certificate-authority": undefined, "insecure-skip-tls-verify": true };
        const cluster = { server: `https://${elsewhere}`, ...ca };
        vi.stubEnv("HTTPS_PROXY", proxy.url);
        use({ user: { token: "mine" }, cluster });
        await askAllWays();
        expect(server.asked.splice(0)).toEqual(thrice(bearing("mine")));
        expect(proxy.reached.splice(0)).toEqual(thrice(elsewhere));

        const own = await proxies.http();
        use({ user: { token: "mine" }, cluster: { ...cluster, "proxy-url": own.url } });
        await ask();
        expect([proxy.reached, own.reached.splice(0)]).toEqual([[], [elsewhere]]);

        use({ user: { token: "mine" } });
        vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:1");
        await ask();
        proxy.stop();
        own.stop();
    });

    it("without TLS is asked without credentials, as by kubectl", async () => {
        use({
            user: { token: "mine", as: "ada" },
            cluster: { server: server.urlWithoutTls, "certificate-authority": undefined },
        });
        await askAllWays();
        expect(server.asked).toEqual(thrice({ "impersonate-user": ["ada"] }));
    });

    it("is asked although other entries of the kubeconfig are incomplete", async () => {
        use({ user: { token: "mine" }, contexts: [{ name: "other", context: {} }, { name: "third" }, {}] });
        await ask();
        expect(server.asked).toEqual([bearing("mine")]);
    });
});

describe("what is not supported is refused, with its name and what to do", () => {
    const ofAlways = { user: exec("my-login", { interactiveMode: "Always" }) };
    const asUser = { "as-uid": "1", "as-user-extra": { a: ["b"] } };
    const gone = [{ name: "missing", context: { cluster: "c", user: "gone" } }];

    it.each<[Entries, RegExp]>([
        [ofAlways, /exec plugin my-login of user "u" has interactiveMode Always.* set it to IfAvailable/],
        [{ user: { exec: {} } }, /exec plugin of user "u" has no command; add it/],
        [
            { user: { as: "ada", "as-groups": "one" } },
            /as-groups and each value of as-user-extra of user "u" must be a list/,
        ],
        [{ user: { "as-groups": ["a"] } }, /user "u" has as-groups and no as; add as/],
        [{ user: asUser }, /user "u" has as-uid and as-user-extra and no as/],
        [{ user: { "token-file": "gone" } }, /user "u" has token-file, which kubectl does not know; name it tokenFile/],
        [{ user: { "auth-provider": { name: "openstack" } } }, /auth-provider openstack of user "u" .* exec plugin/],
        [
            { cluster: { "proxy-url": "ftp://me:hidden@127.0.0.1:1" } },
            /proxy-url of cluster "c", or HTTPS_PROXY, must begin with http:\/\/, https:\/\/ or socks5:\/\//,
        ],
        [{ cluster: { server: "127.0.0.1:6443" } }, /server of cluster "c".*https:\/\//],
        [{ contexts: gone }, /context "missing" names the user "gone", which the kubeconfig does not describe/],
    ])("%j", (entries, reason) => {
        use(entries);
        const attempt = () => connect({ context: entries.contexts ? "missing" : "test" });
        expect(attempt).toThrow(KubeconfigError);
        expect(attempt).toThrow(reason);
        expect(attempt).not.toThrow(/hidden/);
    });

    it("a kubeconfig without a current context, if none is named", () => {
        use({});
        expect(() => connect({})).toThrow("the kubeconfig has no current context; it has test");
    });

    it("only in the context that is used", () => {
        use({
            user: { "auth-provider": { name: "openstack" }, exec: {} },
            contexts: [{ name: "b", context: { cluster: "c" } }],
        });
        expect(() => connect({ context: "b" })).not.toThrow();
    });
});
