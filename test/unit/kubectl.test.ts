import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kubectl, kubectlFor } from "../../chaos/kubectl";

describe("a command of kubectl for people", () => {
    it("names the context, since another may be the current one", () => {
        expect(kubectl({ context: "kind-a", namespace: "demo" })).toBe("kubectl --context kind-a --namespace demo");
        expect(kubectl({ context: "kind shop" })).toBe("kubectl --context 'kind shop'");
        expect(kubectl({})).toBe("kubectl");
        expect(kubectlFor({ kubeconfig: { getCurrentContext: () => "kind-a" } })).toBe("kubectl --context kind-a");
    });
});

/** Commands that act on a cluster; not `kubectl config` or, as a figure of speech, `kubectl scale`. */
const bare =
    /kubectl (?:--|-n |(?:annotate|api-resources|apply|auth|cluster-info|delete|describe|get|label|logs|wait) )/;
const isComment = (line: string) => /^\s*(?:\*|\/\*|\/\/)/.test(line);

it("no message writes such a command by itself", () => {
    const files = ["chaos", "components", "cli"].flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    );
    const sources = files.filter((file) => file.endsWith(".ts") && !/(?:^|\/)(?:node_modules|dist)\//.test(file));
    const found = sources.flatMap((file) =>
        readFileSync(file, "utf8")
            .split("\n")
            .flatMap((line, index) =>
                bare.test(line) && !isComment(line) ? `${file}:${index + 1}: ${line.trim()}` : [],
            ),
    );
    expect(sources.length).toBeGreaterThan(200);
    expect(found).toEqual([]);
});
