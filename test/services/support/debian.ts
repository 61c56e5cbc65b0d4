import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Why a server's programs cannot be had here, or undefined if they can. As root on a Debian their package is installed
 * if it is missing.
 *
 * @param prepare what must be in place before the package is
 */
export function whyNotInstalled(
    what: string,
    debianPackage: string,
    isThere: () => boolean,
    prepare: () => void = () => {},
): string | undefined {
    if (isThere()) {
        return undefined;
    }
    if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
        return `no ${what} here; install it with: sudo apt-get install ${debianPackage}`;
    }
    console.warn(`Installs ${what} for the tests: apt-get install ${debianPackage}`);
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive", UCF_FORCE_CONFFOLD: "1" };
    // Other tests may be installing, too, and apt-get waits for those who install, but not for those who update the lists,
    // which on a new machine are empty or old.
    const aptGet = (...args: string[]) =>
        execFileSync(
            "flock",
            [join(tmpdir(), "chaos-shop-apt-get.lock"), "apt-get", "-o", "DPkg::Lock::Timeout=300", ...args],
            { env: environment, stdio: "pipe" },
        );
    try {
        prepare();
        aptGet("update");
        aptGet("install", "--yes", "--no-install-recommends", debianPackage);
    } catch (error) {
        return `${what} could not be installed: ${error instanceof Error ? error.message : error}`;
    }
    return undefined;
}
