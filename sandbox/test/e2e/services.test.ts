import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sandboxUp } from "../../node/up";
import { askFromPod, apply, createNamespace, eventually, kubectl, ready, runInPod, webPod } from "./support";

const namespace = "sandbox-services";
let removeNamespace: () => Promise<unknown>;

/**
 * A Service for the pod of that name.
 *
 * @param more fields of its `spec`
 */
function service(name: string, type: string, { app = "web", ...more }: Record<string, string> = {}): object {
    return {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: { type, selector: { app }, ports: [{ port: 80, targetPort: 8080 }], ...more },
    };
}

function loadBalancerAddress(name: string): Promise<string> {
    return kubectl(["-n", namespace, "get", "service", name, "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}"]);
}

beforeAll(async () => {
    await sandboxUp();
    removeNamespace = await createNamespace(namespace);
    await apply(
        namespace,
        webPod("web"),
        webPod("client"),
        service("web", "LoadBalancer"),
        service("other", "LoadBalancer"),
        service("node-port", "NodePort"),
    );
    await ready(namespace, "web", "client");
    await eventually(
        () => loadBalancerAddress("web"),
        (address) => address !== "",
    );
}, 180_000);

afterAll(() => removeNamespace?.(), 90_000);

describe("the sandbox's network", { timeout: 60_000 }, () => {
    it("serves each LoadBalancer Service to the host at its own address", async () => {
        const address = await loadBalancerAddress("web");
        expect(address).toMatch(/^198\.18\.1\.\d+$/);
        expect(await loadBalancerAddress("other")).not.toBe(address);
        await eventually(
            () => fetch(`http://${address}`).then((answer) => answer.text(), String),
            (body) => body === "web",
        );
    });

    it("refuses connections to a LoadBalancer address without pods, or without a Service, at once", async () => {
        await apply(namespace, service("podless", "LoadBalancer", { app: "nobody" }));
        await eventually(() => loadBalancerAddress("podless"), Boolean);
        for (const address of [await loadBalancerAddress("podless"), "198.18.1.250"]) {
            const startedMs = Date.now();
            const asked = fetch(`http://${address}`, { signal: AbortSignal.timeout(5_000) });
            await expect(asked).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
            expect(Date.now() - startedMs).toBeLessThan(2_000);
        }
    });

    it("refuses connections from a pod to an unused Service address", async () => {
        expect(await askFromPod(namespace, "client", "http://10.96.255.250")).toBe("ECONNREFUSED");
    });

    it("releases a LoadBalancer address when its Service is deleted or changes its type", async () => {
        // Not one of the lowest: each Service gets the lowest that is free, also those of other tests.
        const loadBalancerIP = "198.18.1.200";
        const hasIt = (found: string) => found === loadBalancerIP;
        await apply(namespace, service("first", "LoadBalancer", { loadBalancerIP }));
        await eventually(() => loadBalancerAddress("first"), hasIt);
        await kubectl(["-n", namespace, "delete", "service", "first"]);
        await apply(namespace, service("heir", "LoadBalancer", { loadBalancerIP }));
        await eventually(() => loadBalancerAddress("heir"), hasIt);
        await apply(namespace, service("heir", "ClusterIP"));
        await eventually(
            () => loadBalancerAddress("heir"),
            (found) => found === "",
        );
    });

    it("serves a NodePort Service to the host", async () => {
        const path = "jsonpath={.spec.ports[0].nodePort}";
        const port = await kubectl(["-n", namespace, "get", "service", "node-port", "-o", path]);
        const body = await fetch(`http://198.18.0.2:${port}`).then((answer) => answer.text());
        expect(body).toBe("web");
    });

    it("serves a Service through the API server's proxy", async () => {
        expect(await kubectl(["get", "--raw", `/api/v1/namespaces/${namespace}/services/web:80/proxy/`])).toBe("web");
    });

    it("resolves the cluster's names in a pod, and rejects all other names within a second", async () => {
        expect(await askFromPod(namespace, "client", "http://web")).toBe("web");
        expect(await askFromPod(namespace, "client", `http://web.${namespace}.svc.cluster.local`)).toBe("web");
        const program = `
            const startedMs = Date.now();
            require("dns").lookup("example.com", (error) => console.log(error.code, Date.now() - startedMs < 1000));`;
        expect(await runInPod(namespace, "client", program)).toBe("ENOTFOUND true");
    });

    it("gives pods no route to addresses outside the cluster", async () => {
        expect(await askFromPod(namespace, "client", "http://192.0.2.2")).toMatch(/ENETUNREACH|EHOSTUNREACH/);
    });

    it("lets kubectl read a pod's logs", async () => {
        await expect(kubectl(["-n", namespace, "logs", "web"])).resolves.toBe("");
    });
});

describe("the sandbox's admission", { timeout: 60_000 }, () => {
    it("rejects a pod that violates the restricted Pod Security level, and says why", async () => {
        const privileged = { ...webPod("bad", { securityContext: {} }), metadata: { name: "bad" } };
        await expect(apply(namespace, privileged)).rejects.toThrow(
            /violates PodSecurity "restricted:latest".*runAsNonRoot/s,
        );
    });
});
