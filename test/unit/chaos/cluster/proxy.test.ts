import { describe, expect, it } from "vitest";
import { proxyFor } from "../../../../chaos/cluster/proxy";

const proxy = "http://proxy.example:3128";

describe("the proxy of the environment", () => {
    it.each<[url: string, environment: Record<string, string>, expected: string | undefined]>([
        ["https://cluster.example:6443", {}, undefined],
        ["https://cluster.example:6443", { HTTPS_PROXY: proxy }, proxy],
        ["https://cluster.example:6443", { https_proxy: proxy }, proxy],
        ["https://cluster.example:6443", { HTTPS_PROXY: proxy, https_proxy: "http://other.example" }, proxy],
        ["https://cluster.example:6443", { HTTPS_PROXY: "proxy.example:3128" }, proxy],
        ["https://cluster.example:6443", { HTTP_PROXY: proxy }, undefined],
        ["http://cluster.example", { HTTP_PROXY: proxy }, proxy],
        ["https://cluster.example", { HTTPS_PROXY: "socks5://proxy.example:1080" }, "socks5://proxy.example:1080"],
        ["no URL", { HTTPS_PROXY: proxy }, undefined],
    ])("of %s with %j is %s", (url, environment, expected) => expect(proxyFor(url, environment)).toBe(expected));

    it.each(["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])("never leads to this machine: %s", (host) =>
        expect(proxyFor(`https://${host}:6443`, { HTTPS_PROXY: proxy })).toBeUndefined(),
    );

    // As in the tests of Go's package.
    it.each<[noProxy: string, host: string, isDirect: boolean]>([
        ["*", "cluster.example", true],
        ["cluster.example", "cluster.example", true],
        ["cluster.example", "API.cluster.example", true],
        ["cluster.example", "othercluster.example", false],
        [".cluster.example", "api.cluster.example", true],
        [".cluster.example", "cluster.example", false],
        ["*.cluster.example", "api.cluster.example", true],
        ["other.example, Cluster.Example", "cluster.example", true],
        ["cluster.example:6443", "cluster.example", true],
        ["cluster.example:443", "cluster.example", false],
        ["10.1.2.3", "10.1.2.3", true],
        ["10.1.2.3:443", "10.1.2.3", false],
        ["10.0.0.0/8", "10.1.2.3", true],
        ["10.0.0.0/8", "11.1.2.3", false],
        ["10.0.0.0/99, 10.0.0.0/x", "10.1.2.3", false],
        ["10.0.0.0/, 10.0.0.0/-1, 10.0.0.0/8.5", "10.1.2.3", false],
        ["10.0.0.0/8", "cluster.example", false],
        ["2001:db8::/32", "[2001:db8::7]", true],
        ["2001:db8::7", "[2001:db8::7]", true],
        ["[2001:db8::7]:6443", "[2001:db8::7]", true],
        [", ,", "cluster.example", false],
    ])("with NO_PROXY=%s, %s is asked directly: %s", (noProxy, host, isDirect) => {
        for (const name of ["NO_PROXY", "no_proxy"])
            expect(proxyFor(`https://${host}:6443`, { HTTPS_PROXY: proxy, [name]: noProxy }) === undefined).toBe(
                isDirect,
            );
    });
});
