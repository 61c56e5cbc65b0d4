import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";

/**
 * Why a program is not available, or undefined if it is. Root on Debian installs its package if it is missing.
 *
 * @param prepare runs before the installation
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
        return `${what} is missing; install it with: sudo apt-get install ${debianPackage}`;
    }
    console.warn(`Installing ${what} for the tests: apt-get install ${debianPackage}`);
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive", UCF_FORCE_CONFFOLD: "1" };
    // Other tests may run apt-get as well. It waits for other installations, but not for updates of the package lists.
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
        return `${what} could not be installed: ${String(error)}`;
    }
    return undefined;
}

/** A group of tests that are skipped for a reason, if there is one. The title then gives it. */
export function describeUnless(reason: string | undefined, title: string, tests: () => void): void {
    describe.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (skipped: ${reason})`, tests);
}
