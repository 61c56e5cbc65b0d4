import { describe, expect, it } from "vitest";
import { requireChart } from "../../../../components/install/repository";
import { serving } from "../../../support/serving";

const index = {
    apiVersion: "v1",
    entries: { shop: [{ version: "1.1.0" }, { version: "1.0.0" }], agent: [{ version: "2.0.0" }] },
};
const server = serving((request, response) => {
    if (request.url === "/charts/index.yaml") response.end(JSON.stringify(index));
    else if (request.url === "/page/index.yaml") response.end("<html>not an index</html>");
    else response.writeHead(404).end();
});

describe("a chart", () => {
    it.each([
        ["the newest", undefined],
        ["one version", "1.0.0"],
        ["a range of versions", "^1.0.0"],
        ["a range with spaces that begins with a version", "1.0.0 - 1.9.0"],
        ["several ranges", "1.0.0 || >=1.1.0"],
    ])("that its repository has is accepted: %s", async (_, version) => {
        await expect(requireChart({ repo: `${server.url}/charts/`, name: "shop", version })).resolves.toBeUndefined();
    });

    const refusals: [string, () => Parameters<typeof requireChart>[0], RegExp][] = [
        [
            "is not in its repository",
            () => ({ repo: `${server.url}/charts`, name: "shpo" }),
            new RegExp(
                String.raw`chart\.name is "shpo", which .* does not have; allowed: shop, agent\. Nothing was ` +
                    String.raw`touched; .*npx pulumi config set chart\.name shop`,
            ),
        ],
        [
            "has no such version",
            () => ({ repo: `${server.url}/charts`, name: "shop", version: "3.0.0" }),
            /chart\.version is "3\.0\.0", .*allowed: 1\.1\.0, 1\.0\.0\. .*config set chart\.version 1\.1\.0/,
        ],
        [
            "is in no repository",
            () => ({ repo: `${server.url}/nothing`, name: "shop" }),
            new RegExp(
                String.raw`chart\.repo is ".*\/nothing", .*index\.yaml: status 404\. Nothing was ` +
                    String.raw`touched; .*npx pulumi config set chart\.repo https://`,
            ),
        ],
        [
            "is at an address without an index",
            () => ({ repo: `${server.url}/page`, name: "shop" }),
            /which cannot be read as a chart repository/,
        ],
        [
            "is at an address that does not answer",
            () => ({ repo: "http://127.0.0.1:2", name: "shop" }),
            /chart\.repo is "http:\/\/127\.0\.0\.1:2", .*ECONNREFUSED/,
        ],
    ];
    it.each(refusals)("that %s is reported before anything is touched", async (_, chart, expected) => {
        await expect(requireChart(chart())).rejects.toThrow(expected);
    });
});
