import type { SandboxStatus } from "./status";

/** The status as text. */
export function statusTable(status: SandboxStatus): string {
    const lines = [`The sandbox is ${status.state}.`];
    if (status.state !== "down") {
        lines.push(
            "",
            ...table([
                ["COMPONENT", "STATE", "PID", "SINCE"],
                ...status.components.map(({ name, state, pid, since }) => [
                    name,
                    state,
                    String(pid ?? ""),
                    since ?? "",
                ]),
            ]),
            "",
            `Node:            ${status.nodeReady ? "Ready" : "not Ready"}`,
            `Cluster DNS:     ${status.dnsAnswers ? "answers" : "does not answer"}`,
            `API server:      ${status.apiServer} (context ${status.context})`,
            `LoadBalancers:   ${status.loadBalancerPool}`,
            `Denied traffic:  ${status.deniedTraffic === "drop" ? "dropped" : "rejected"}`,
            `Kubeconfig:      ${status.kubeconfig}`,
            `Pods not ready:  ${status.podsNotReady.join("\n                 ") || "none"}`,
            `Images:          ${status.images.join("\n                 ") || "none"}`,
        );
    }
    const missing = status.parts.filter(({ state }) => state === "missing" || state === "damaged");
    if (missing.length > 0) {
        lines.push(
            "",
            `Parts that the next \`up\` builds: ${missing.map(({ name, state }) => `${name} (${state})`).join(", ")}`,
        );
    }
    if (status.problems.length > 0) lines.push("", "Problems:", ...status.problems.map((problem) => `  - ${problem}`));
    if (status.state !== "up") {
        lines.push("", `\`npm run sandbox -- up\` ${status.state === "broken" ? "repairs it" : "starts it"}.`);
    }
    return `${lines.join("\n")}\n`;
}

/** Columns as wide as their widest cell. */
function table(rows: readonly (readonly string[])[]): string[] {
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    return rows.map((row) =>
        row
            .map((cell, column) => cell.padEnd(widths[column]!))
            .join("  ")
            .trimEnd(),
    );
}
