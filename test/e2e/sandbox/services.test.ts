import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sandboxUp } from "../../../sandbox/node/up";
import { askFromPod, apply, createNamespace, eventually, kubectl, ready, runInPod, webPod } from "./support";

const namespace = "sandbox-services";
let removeNamespace: () => Promise<unknown>;

/** A Service for the pod of that name. */
function service(name: string, type: string, app = "web"): object {
    return {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: { type, selector: { app }, ports: [{ port: 80, targetPort: 8080 }] },
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

describe("the sandbox's Services", { timeout: 60_000 }, () => {
    it("answers from the host at the LoadBalancer's own address", async () => {
        const address = await loadBalancerAddress("web");
        expect(address).toMatch(/^198\.18\.1\.\d+$/);
        expect(await loadBalancerAddress("other")).not.toBe(address);
        await eventually(
            () => fetch(`http://${address}`).then((answer) => answer.text(), String),
            (body) => body === "web",
        );
    });

    it("refuses at once, rather than hangs, at an address of the pool that no Service has", async () => {
        const startedMs = Date.now();
        await expect(fetch("http://198.18.1.250", { signal: AbortSignal.timeout(5_000) })).rejects.toThrow();
        expect(Date.now() - startedMs).toBeLessThan(2_000);
    });

    it("refuses at once what a pod sends to a Service's address that leads to no pod, so that no flow to nobody is remembered", async () => {
        expect(await askFromPod(namespace, "client", "http://10.96.255.250")).toBe("ECONNREFUSED");
    });

    it("frees an address when its Service is gone, and takes it away when the Service changes its type", async () => {
        const address = await loadBalancerAddress("other");
        await kubectl(["-n", namespace, "delete", "service", "other"]);
        await apply(namespace, service("heir", "LoadBalancer"));
        await eventually(
            () => loadBalancerAddress("heir"),
            (found) => found === address,
        );
        await apply(namespace, service("heir", "ClusterIP"));
        await eventually(
            () => loadBalancerAddress("heir"),
            (found) => found === "",
        );
    });

    it("answers from the host at a node port", async () => {
        const port = await kubectl([
            "-n",
            namespace,
            "get",
            "service",
            "node-port",
            "-o",
            "jsonpath={.spec.ports[0].nodePort}",
        ]);
        const body = await fetch(`http://198.18.0.2:${port}`).then((answer) => answer.text());
        expect(body).toBe("web");
    });

    it("answers through the API server's Service proxy", async () => {
        expect(await kubectl(["get", "--raw", `/api/v1/namespaces/${namespace}/services/web:80/proxy/`])).toBe("web");
    });

    it("resolves the cluster's names in a pod, and nothing else, quickly", async () => {
        expect(await askFromPod(namespace, "client", "http://web")).toBe("web");
        expect(await askFromPod(namespace, "client", `http://web.${namespace}.svc.cluster.local`)).toBe("web");
        const program = `const t = Date.now(); require("dns").lookup("example.com", (e) => console.log(e.code, Date.now() - t < 1000))`;
        expect(await runInPod(namespace, "client", program)).toBe("ENOTFOUND true");
    });

    it("lets nothing out: a pod has no way to any address outside", async () => {
        expect(await askFromPod(namespace, "client", "http://192.0.2.2")).toMatch(/ENETUNREACH|EHOSTUNREACH/);
    });

    it("lets a Service with nobody behind it refuse", async () => {
        await apply(namespace, service("nobody", "ClusterIP", "nobody"));
        await eventually(
            () => askFromPod(namespace, "client", "http://nobody"),
            (code) => code === "ECONNREFUSED",
        );
    });

    it("shows logs", async () => {
        await expect(kubectl(["-n", namespace, "logs", "web"])).resolves.toBe("");
    });
});

describe("the sandbox's admission", { timeout: 60_000 }, () => {
    it("refuses a pod that the restricted level forbids, and says why", async () => {
        const privileged = { ...webPod("bad", { securityContext: {} }), metadata: { name: "bad" } };
        await expect(apply(namespace, privileged)).rejects.toThrow(
            /violates PodSecurity "restricted:latest".*runAsNonRoot/s,
        );
    });
});
