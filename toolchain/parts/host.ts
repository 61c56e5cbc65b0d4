import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The supported architectures: Node's name to the name that Go, Debian and OCI use. */
export const GO_ARCHITECTURE: Partial<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Why parts cannot be built on a machine, in a sentence; undefined if they can. */
export function unsuitableBecause({ platform, architecture, userId, hasApt } = thisHost()): string | undefined {
    if (platform !== "linux") return `Linux is required; this machine runs ${platform}.`;
    if (!GO_ARCHITECTURE[architecture])
        return `${Object.keys(GO_ARCHITECTURE).join(" or ")} is required; this machine is ${architecture}.`;
    if (!hasApt) return "apt-get (Debian, Ubuntu) is required, and was not found.";
    if (userId !== 0) return `root is required (\`sudo -E\`); this is user ${userId}.`;
    return undefined;
}

/** A user id is undefined on platforms without. */
function thisHost() {
    const { platform, arch: architecture } = process;
    return { platform, architecture: architecture as string, userId: process.getuid?.(), hasApt: isProgram("apt-get") };
}

/** Whether a program is on PATH or in one of the administrator's folders, which a user's PATH may lack. */
export function isProgram(program: string): boolean {
    if (program.startsWith("/")) return existsSync(program);
    const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
    return folders.some((folder) => folder !== "" && existsSync(join(folder, program)));
}
