import type { V1ServiceStatus } from "../../../../../chaos/values/kubernetes-types";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import dns from "node:dns";
import { isIP } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiServerPulse } from "../../../../../chaos/kinds/checks/api-server";
import { Endpoints } from "../../../../../chaos/kinds/checks/endpoints";
import { http, type HttpCheck } from "../../../../../chaos/kinds/checks/http";
import { makeCertificate } from "../../../../support/certificate";
import { FakeCluster } from "../../support/fake-cluster";
import {
    addService,
    base64,
    closedPort,
    contextOf,
    ok,
    recording,
    serve,
    statusObject,
    useApiServer,
    unseen,
} from "./support";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
    cluster.add("Namespace", "demo");
    cluster.add("Namespace", "shop");
});

const check = (fields: Partial<HttpCheck>): HttpCheck => ({ kind: "http", path: "/", ...fields });
const look = (fields: Partial<HttpCheck>, known = {}) => http.probe(check(fields), contextOf(cluster, known), 2_000);

/** What is said of something that the API server's proxy does not pass on. */
const notPassedOn = (what: string) => ({
    unseen: true,
    problem:
        `the API server's proxy does not pass on ${what}, and the Service has no external address that ` +
        "answers this machine. Give it one (type LoadBalancer or NodePort), or set `url`",
});

describe("a check asks", () => {
    it("the plan's Service, unless it names something else", async () => {
        const port = await serve(ok);
        const route = { kind: "address", url: `http://127.0.0.1:${port}` } as const;
        expect(await look({}, { route })).toMatchObject({ good: true, status: 200 });
    });

    it("the path after that of its URL", async () => {
        const { url, paths } = await recording();
        await look({ url: `${url}/api/`, path: "/health?deep=1" });
        expect(paths()).toEqual(["/api/health?deep=1"]);
    });

    it("a Service by the first of its external addresses that answers", async () => {
        const port = await serve(ok);
        addService(cluster, "orders", [{ port }], "127.0.0.1", "shop");
        const { loadBalancer } = cluster.get("Service", "orders", "shop").status as V1ServiceStatus;
        // Of a family that nobody here has, and one where nobody listens.
        loadBalancer!.ingress = [{ ip: "2001:db8::7" }, { hostname: "127.0.0.9" }, { ip: "127.0.0.1" }];
        const endpoints = new Endpoints(cluster.api, "demo");
        const { route } = await endpoints.of(check({ service: "orders", namespace: "shop" }));
        expect(route).toEqual({ kind: "address", url: `http://127.0.0.1:${port}` });
        expect(endpoints.routes).toEqual({ "http://shop/orders": route });
    });

    describe("a Service of type NodePort", () => {
        const routeTo = async (spec: object = {}) => {
            const nodePort = await serve(ok);
            const ports = [
                { port: 81, nodePort: 1 },
                { port: 80, nodePort },
            ];
            cluster.add("Service", "orders", { spec: { type: "NodePort", selector: { app: "a" }, ports, ...spec } });
            const { route } = await new Endpoints(cluster.api, "demo").of(check({ service: "orders", port: 80 }));
            return { route, nodePort };
        };
        const throughApiServer = { kind: "apiServer", path: "/api/v1/namespaces/demo/services/orders:80/proxy" };

        beforeEach(() => {
            const addresses = [
                { type: "Hostname", address: "127.0.0.1" },
                { type: "InternalIP", address: "::1" },
                { type: "InternalIP", address: "127.0.0.1" },
            ];
            cluster.add("Node", "gone", { status: { addresses: [{ type: "ExternalIP", address: "127.0.0.9" }] } });
            cluster.add("Node", "there", { status: { addresses } });
        });

        it("by the first address of a node that answers, of both families", async () => {
            const { route, nodePort } = await routeTo();
            expect(route).toEqual({ kind: "address", url: `http://127.0.0.1:${nodePort}` });
        });

        it("through the API server's proxy, if only nodes with a pod of it answer", async () =>
            expect((await routeTo({ externalTrafficPolicy: "Local" })).route).toEqual(throughApiServer));

        it("through the API server's proxy, if the account may not list nodes", async () => {
            cluster.refuses("list Node", 403, "nodes is forbidden");
            expect((await routeTo()).route).toEqual(throughApiServer);
        });
    });

    describe("a host name that has several addresses", () => {
        const askNamed = (port: number, ...addresses: string[]) => {
            const found = addresses.map((address) => ({ address, family: isIP(address) }));
            const lookup = (_name: string, _options: object, give: (error: null, all: object[]) => void) =>
                give(null, found);
            vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
            return look({ url: `http://shop.example:${port}` });
        };
        afterEach(() => void vi.restoreAllMocks());

        it("at each of them, until one answers", async () => {
            const answer = await askNamed(await serve(ok), "2001:db8::7", "127.0.0.9", "127.0.0.1");
            expect(answer).toMatchObject({ good: true, status: 200 });
        });

        it("in vain, and the problem names each", async () => {
            const { problem } = await askNamed(await closedPort(), "127.0.0.8", "127.0.0.9");
            expect(problem).toMatch(/127\.0\.0\.8:\d+; .*127\.0\.0\.9:\d+/);
        });
    });

    it.each<[string, Partial<HttpCheck>, string]>([
        ["by the number of a port", { port: 8080 }, "orders:8080"],
        ["by the number of a port, as text", { port: "8080" }, "orders:8080"],
        ["by the name of a port", { port: "web" }, "orders:8080"],
        ["by the name of a port, in digits", { port: "8443" }, "orders:8444"],
        ["over HTTPS", { port: 8443, scheme: "https" }, "https:orders:8443"],
    ])("a Service through the API server's proxy otherwise: %s", async (_, fields, target) => {
        const ports = [
            { name: "web", port: 8080 },
            { name: "tls", port: 8443 },
            { name: "8443", port: 8444 },
            { name: "dns", port: 53, protocol: "UDP" },
        ];
        addService(cluster, "orders", ports);
        const { port, paths } = await recording();
        useApiServer(cluster, port);
        expect(await look({ service: "orders", path: "/health", ...fields })).toMatchObject({ good: true });
        expect(paths()).toEqual([`/api/v1/namespaces/demo/services/${target}/proxy/health`]);
    });

    it.each([
        ["/api/queues/%2F/orders", "the path /api/queues/%2F/orders, which would arrive as /api/queues/orders"],
        ["/files//1?a=//", "the path /files//1, which would arrive as /files/1"],
        ["/orders?", "an empty query"],
    ])("%s by an address, as written, and never through the proxy, which cannot pass that on", async (path, what) => {
        const { port, paths } = await recording();
        addService(cluster, "outside", [{ port }], "127.0.0.1");
        expect(await look({ service: "outside", path })).toMatchObject({ good: true });
        expect(paths()).toEqual(["/", path]);

        addService(cluster, "inside", [{ port }]);
        useApiServer(cluster, port);
        expect(await look({ service: "inside", path })).toMatchObject(notPassedOn(what));
        expect(paths()).toEqual([]);
    });

    it("a Service through the proxy, if its external address does not answer", async () => {
        const port = await closedPort();
        addService(cluster, "orders", [{ port }], "127.0.0.1");
        useApiServer(cluster, await serve(ok));
        expect(await look({ service: "orders" })).toMatchObject({ good: true });
    });

    it("each Service by the route that was found before, and looks for none twice", async () => {
        const port = await serve(ok);
        const routes = { "http://demo/orders": { kind: "address", url: `http://127.0.0.1:${port}` } as const };
        expect(await look({ service: "orders" }, { routes })).toMatchObject({ good: true });
        expect(cluster.calls).toEqual([]);

        addService(cluster, "toys", [{ port }], "127.0.0.1");
        const endpoints = new Endpoints(cluster.api, "demo");
        await Promise.all(["/a", "/b", "/c"].map((path) => endpoints.of(check({ service: "toys", path }))));
        expect(cluster.calls).toEqual(["get Service"]);
    });
});

describe("nothing is known about the application, and the problem says what to do,", () => {
    const ofKey = (key: string, secret = "keys") => ({ headersFrom: { "X-Key": { secret, key } } });
    const seeing = (what: string) => `Create it, or correct the check; see: kubectl --namespace demo get ${what}`;
    const ports = "Its ports are: 80 (web), 9090";

    it.each<[string, Partial<HttpCheck>, string]>([
        ["a Service is missing", { service: "gone" }, `Service demo/gone does not exist. ${seeing("services")}`],
        [
            "a namespace is missing",
            { service: "orders", namespace: "gone" },
            "namespace gone does not exist. Create it, or name another one; see: kubectl get namespaces",
        ],
        [
            "a Service has several ports",
            { service: "orders" },
            `Service demo/orders has not exactly one TCP port; set \`port\`. ${ports}`,
        ],
        [
            "a Service lacks the port",
            { service: "orders", port: 81 },
            `Service demo/orders has no TCP port 81; correct \`port\`. ${ports}`,
        ],
        [
            "a Service lacks the port, written as text",
            { service: "orders", port: "81" },
            `Service demo/orders has no TCP port 81; correct \`port\`. ${ports}`,
        ],
        [
            "a Service is only another name",
            { service: "outside" },
            "Service demo/outside is of type ExternalName, which has no proxy; " +
                "set `url` to http://shop.example instead",
        ],
        ["a Secret is missing", ofKey("a", "gone"), `Secret demo/gone does not exist. ${seeing("secrets")}`],
        ["a Secret lacks the key", ofKey("b"), "Secret demo/keys has no key b; its keys are: a, empty, lines"],
        [
            "a Secret lacks the key, and has many",
            ofKey("b", "many"),
            "Secret demo/many has no key b; its keys are: k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 20 more",
        ],
        ["a secret is empty", ofKey("empty"), "key empty of Secret demo/keys is empty"],
        [
            "a secret cannot be a header",
            ofKey("lines"),
            "key lines of Secret demo/keys cannot be a header: it has a line break or a control character",
        ],
        [
            "a CA is no certificate",
            { url: "https://127.0.0.1", caFrom: { name: "ca" } },
            "key ca.crt of ConfigMap demo/ca holds no certificate; allowed: PEM, " +
                "which begins with -----BEGIN CERTIFICATE-----",
        ],
    ])("if %s", async (_, fields, problem) => {
        addService(cluster, "orders", [{ name: "web", port: 80 }, { port: 9090 }]);
        cluster.add("Service", "outside", { spec: { type: "ExternalName", externalName: "shop.example" } });
        cluster.add("Secret", "keys", { data: { a: base64("x"), empty: "", lines: base64("x\ny") } });
        const many = Array.from({ length: 30 }, (_, at) => [`k${at}`, ""]);
        cluster.add("Secret", "many", { data: Object.fromEntries(many) });
        cluster.add("ConfigMap", "ca", { data: { "ca.crt": "none" } });
        const route = { kind: "address", url: "http://127.0.0.1:1" };
        expect(await look(fields, { route })).toMatchObject({ good: false, unseen: true, problem });
    });

    it("if a Secret may not be read", async () => {
        const right = 'cannot get resource "secrets" in API group "" in the namespace "demo"';
        cluster.refuses("get Secret", 403, `secrets "a" is forbidden: User "ada" ${right}`);
        expect(await look({ url: "http://127.0.0.1:1", ...ofKey("b", "a") })).toMatchObject(
            unseen(expect.stringContaining("kubectl auth can-i get secrets --namespace demo")),
        );
    });

    it("and it is looked for again with the next look", async () => {
        const context = contextOf(cluster);
        const asking = check({ service: "orders" });
        expect(await http.probe(asking, context, 2_000)).toMatchObject({ unseen: true });
        addService(cluster, "orders", [{ port: await serve(ok) }], "127.0.0.1");
        expect(await http.probe(asking, context, 2_000)).toMatchObject({ good: true });
    });
});

describe("while the API server does not answer this machine either, a request by address", () => {
    const stalled = { answeredSince: async () => true, wasSilentSince: () => true } as unknown as ApiServerPulse;
    const answerOf = (url: string, pulse?: ApiServerPulse, maxLatencyMs?: number) =>
        http.probe(check({ url, maxLatencyMs }), { ...contextOf(cluster), pulse }, 2_000);

    it("says nothing of the application if no answer comes, and fails otherwise", async () => {
        const url = `http://127.0.0.1:${await closedPort()}`;
        expect(await answerOf(url, stalled)).toMatchObject(
            unseen(/ECONNREFUSED.*, while the API server did not answer other requests either$/),
        );
        expect(await answerOf(url)).not.toHaveProperty("unseen");
    });

    it("fails if a bad answer comes, also a late one", async () => {
        const port = await serve((_, response) => void setTimeout(() => response.writeHead(500).end(), 30));
        const answer = await answerOf(`http://127.0.0.1:${port}`, stalled, 10);
        expect(answer).toMatchObject({ good: false, status: 500 });
        expect(answer).not.toHaveProperty("unseen");
    });

    it("says nothing of the application if a good answer is late, and fails otherwise", async () => {
        const url = `http://127.0.0.1:${await serve((_, response) => void setTimeout(() => response.end(), 500))}`;
        expect(await answerOf(url, stalled, 10)).toMatchObject({
            good: false,
            status: 200,
            unseen: true,
            problem: expect.stringMatching(
                /after \d+ ms.* \(required: at most 10 ms\), while the API server did not answer other requests/,
            ),
        });
        const awake = { wasSilentSince: () => false } as unknown as ApiServerPulse;
        expect(await answerOf(url, awake, 10)).not.toHaveProperty("unseen");
        expect(await answerOf(url, stalled)).toMatchObject({ good: true });
    });
});

it("a Service without ready pods is the application's failure, and the problem says where to look", async () => {
    addService(cluster, "orders", [{ port: 80 }]);
    const body = statusObject(503, 'no endpoints available for service "orders"');
    useApiServer(cluster, await serve((_, response) => response.writeHead(503).end(body)));
    const answer = await look({ service: "orders" });
    expect(answer).toMatchObject({
        good: false,
        problem:
            'status 503: “no endpoints available for service "orders"”: none of its pods is ready, or its selector ' +
            "matches none; compare `kubectl --context kind-a --namespace demo get service orders --output wide` with " +
            "`kubectl --context kind-a --namespace demo get pods --show-labels`",
    });
    expect(answer).not.toHaveProperty("unseen");
});

describe("a Service without a selector, through the API server", () => {
    const answering = async (status: number, message: string) => {
        addService(cluster, "orders", [{ port: 80 }]);
        delete cluster.get("Service", "orders").spec.selector;
        const body = statusObject(status, message);
        useApiServer(cluster, await serve((_, response) => response.writeHead(status).end(body)));
        return look({ service: "orders" });
    };

    it.each<[number, string]>([
        [404, 'services "orders" not found'],
        [404, 'endpoints "orders" not found'],
        [503, 'no endpoints available for service "orders:80"'],
    ])("cannot be asked by EndpointSlices alone, which says nothing of the application: %i %s", async (...refusal) =>
        expect(await answering(...refusal)).toMatchObject(
            unseen(/^the Service has no selector, and the API server's proxy .* set `url`$/),
        ),
    );

    it("fails if one of its pods does", async () =>
        expect(await answering(503, "error trying to reach service: dial tcp")).not.toHaveProperty("unseen"));
});

describe("headers from Secrets", () => {
    const secret = 'key-"1"/with such';
    const headersFrom = {
        Authorization: { secret: "keys", key: "token", prefix: "Bearer " },
        "X-Key": { secret: "keys", key: "token", namespace: "shop" },
    };
    beforeEach(() => {
        cluster.add("Secret", "keys", { data: { token: base64(`${secret}\n`) } });
        cluster.add("Secret", "keys", { data: { token: base64("other") } }, "shop");
    });

    it("can be read before the first look", async () => {
        const endpoints = new Endpoints(cluster.api, "demo");
        const asking = check({ url: "http://127.0.0.1:1", headersFrom });
        await endpoints.prepare([{ check: asking }, { check: check({ service: "gone" }) }], 1_000);
        expect(cluster.calls).toEqual(["get Secret", "get Secret"]);
        await endpoints.of(asking);
        expect(cluster.calls).toHaveLength(2);
    });

    it("are sent with their prefixes", async () => {
        const { url, asked } = await recording();
        await look({ url, headersFrom, headers: { "X-Plain": "p" } });
        const headers = { authorization: `Bearer ${secret}`, "x-key": "other", "x-plain": "p" };
        expect(asked).toMatchObject([{ headers }]);
    });

    it.each<[string, Partial<HttpCheck>, (secret: string) => string]>([
        ["as it is", {}, (text) => `no: ${text}`],
        ["in a problem document", {}, (text) => JSON.stringify({ detail: `no: ${text}` })],
        ["where a long body is cut", {}, (text) => "x".repeat(195) + text],
        [
            "in an expectation of JSON",
            { status: [200, 599], json: [{ path: "got", equals: "" }] },
            (text) => JSON.stringify({ got: text }),
        ],
        ["as base64", {}, base64],
        ["in a URL", {}, encodeURIComponent],
    ])("show in no problem that quotes them %s", async (_, fields, body) => {
        const port = await serve((request, response) => {
            response.writeHead(401).end(body(request.headers.authorization!.slice("Bearer ".length)));
        });
        const { good, problem } = await look({ url: `http://127.0.0.1:${port}`, headersFrom, ...fields });
        expect(good).toBe(false);
        expect(problem).toContain("[sec");
        expect(problem).not.toMatch(/key-/);
        expect(problem).not.toContain(base64(secret).slice(0, 8));
    });

    it("are sent as parameters and fields, too, and show in no problem", async () => {
        const { url, asked } = await recording((one, response) => response.writeHead(401).end(JSON.stringify(one)));
        const { problem } = await look({
            url,
            path: "/login?q=1",
            method: "POST",
            queryFrom: { "api key": { secret: "keys", key: "token", prefix: "v1-" } },
            body: { user: "a", login: { as: "b" } },
            bodyFrom: {
                "login.password": { secret: "keys", key: "token" },
                pin: { secret: "keys", key: "token", namespace: "shop" },
            },
        });
        const body = JSON.stringify({ user: "a", login: { as: "b", password: secret }, pin: "other" });
        expect(asked).toMatchObject([{ url: `/login?q=1&api%20key=${encodeURIComponent(`v1-${secret}`)}`, body }]);
        expect(problem).toContain("[secret]");
        expect(problem).not.toMatch(/key-|other/);
    });

    it("are sent as parameters and fields of a request that has none", async () => {
        const { url, asked } = await recording();
        const other = { secret: "keys", key: "token", namespace: "shop" };
        expect(await look({ url, queryFrom: { token: other }, bodyFrom: { a: other } })).toMatchObject({ good: true });
        expect(asked).toMatchObject([{ url: "/?token=other", body: '{"a":"other"}' }]);
    });

    it.each(["Authorization", "Impersonate-User"])(
        "named %s are not sent through the API server, which takes them for its own",
        async (name) => {
            addService(cluster, "orders", [{ port: 80 }]);
            const { port, asked } = await recording();
            useApiServer(cluster, port);
            const answer = await look({ service: "orders", headersFrom: { [name]: { secret: "keys", key: "token" } } });
            expect(answer).toMatchObject(notPassedOn(`the header ${name}`));
            expect(asked).toEqual([]);
        },
    );

    it("with other names are sent through the API server", async () => {
        addService(cluster, "orders", [{ port: 80 }]);
        const { port, asked } = await recording();
        useApiServer(cluster, port);
        await look({ service: "orders", headersFrom: { "X-Api-Key": { secret: "keys", key: "token" } } });
        expect(asked).toMatchObject([{ headers: { "x-api-key": secret } }]);
    });
});

describe("over HTTPS", () => {
    const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "endpoints-")));
    const read = ({ keyFile, certificateFile }: ReturnType<typeof makeCertificate>) => ({
        key: readFileSync(keyFile, "utf8"),
        cert: readFileSync(certificateFile, "utf8"),
    });
    let ofAddress: { key: string; cert: string };
    let ofName: { key: string; cert: string };
    beforeAll(() => {
        ofAddress = read(makeCertificate(folders[0]!));
        ofName = read(makeCertificate(folders[1]!, "DNS:shop.example"));
    });
    afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

    it("a certificate that the CA has signed is good", async () => {
        const url = `https://127.0.0.1:${await serve(ok, ofAddress)}`;
        cluster.add("ConfigMap", "ca", { data: { "ca.crt": ofAddress.cert } });
        cluster.add("Secret", "tls", { data: { "tls.crt": base64(ofAddress.cert) } }, "shop");
        expect(await look({ url, ca: ofAddress.cert })).toMatchObject({ good: true });
        expect(await look({ url, caFrom: { name: "ca" } })).toMatchObject({ good: true });
        const caFrom = { kind: "Secret", name: "tls", key: "tls.crt", namespace: "shop" } as const;
        expect(await look({ url, caFrom })).toMatchObject({ good: true });
    });

    it("a certificate of an unknown CA is not, and the problem says what to set", async () => {
        const url = `https://127.0.0.1:${await serve(ok, ofAddress)}`;
        for (const fields of [{ url }, { url, ca: ofName.cert }]) {
            const answer = await look(fields);
            expect(answer).toMatchObject({
                good: false,
                problem: expect.stringMatching(
                    /^the certificate of https:\/\/127\.0\.0\.1:\d+ is not valid: “self.signed certificate”\. .*`ca/,
                ),
            });
            expect(answer).not.toHaveProperty("unseen");
        }
    });

    it("a certificate must be valid for the host, or for serverName", async () => {
        const url = `https://127.0.0.1:${await serve(ok, ofName)}`;
        const ca = ofName.cert;
        expect(await look({ url, ca })).toMatchObject({
            good: false,
            problem: expect.stringContaining("`serverName`"),
        });
        expect(await look({ url, ca, serverName: "other.example" })).toMatchObject({ good: false });
        expect(await look({ url, ca, serverName: "shop.example" })).toMatchObject({ good: true });
    });

    it("a Service is asked by its address, whatever its certificate: the check judges that", async () => {
        addService(cluster, "orders", [{ port: await serve(ok, ofName) }], "127.0.0.1");
        const fields = { service: "orders", scheme: "https", serverName: "shop.example" } as const;
        expect(await look(fields)).toMatchObject({ good: false, problem: expect.stringContaining("certificate") });
        expect(await look({ ...fields, ca: ofName.cert })).toMatchObject({ good: true });
    });

    it("a CA is of no use through the API server's proxy, which does not verify certificates", async () => {
        addService(cluster, "orders", [{ port: 443 }]);
        expect(await look({ service: "orders", scheme: "https", ca: ofName.cert })).toMatchObject(
            unseen(/does not verify the Service's certificate, .* or leave out the CA$/),
        );
    });
});
