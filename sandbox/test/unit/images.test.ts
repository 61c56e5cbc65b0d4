import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { disableUnit, missingPackages } from "../../parts/debian-packages";
import { debianArguments, mirrorIn, userEntries } from "../../parts/debian-root";
import { imageConfiguration } from "../../parts/image-archive";

describe("Debian packages", () => {
    it("are installed only if their program is missing", () => {
        expect(missingPackages(() => true)).toEqual([]);
        expect(missingPackages((program) => program !== "etcd" && program !== "/usr/lib/cni/bridge")).toEqual([
            "etcd-server",
            "containernetworking-plugins",
        ]);
    });

    it("include what a minimal Debian lacks", () => {
        expect(missingPackages((program) => !["openssl", "sysctl"].includes(program))).toEqual(["procps", "openssl"]);
    });

    it("include the keys of Debian's archive, which Ubuntu lacks", () => {
        const keyring = debianArguments("essential", [], "root").find((each) => each.startsWith("--keyring="))!;
        const missing = missingPackages((program) => !keyring.endsWith(program));
        expect(missing).toEqual(["debian-archive-keyring"]);
    });
});

describe("a service that a package installs", () => {
    it("does not start at boot, and other services still do", () => {
        const systemd = mkdtempSync(join(tmpdir(), "chaos-shop-units-"));
        const wants = join(systemd, "multi-user.target.wants");
        mkdirSync(wants);
        for (const unit of ["etcd.service", "cron.service"])
            symlinkSync(`/lib/systemd/system/${unit}`, join(wants, unit));
        disableUnit("etcd.service", systemd);
        disableUnit("containerd.service", systemd);
        expect(readdirSync(wants)).toEqual(["cron.service"]);
        rmSync(systemd, { recursive: true });
    });
});

describe("the packages of images", () => {
    it("are those of the pinned release, also on a host of another", () => {
        const ubuntu = "deb http://five.example/ubuntu noble main universe\n";
        for (const variant of ["essential", "extract"] as const) {
            const made = debianArguments(variant, ["nats-server"], "root", mirrorIn(ubuntu));
            expect(made.slice(-3)).toEqual(["bookworm", "root", "deb http://deb.debian.org/debian bookworm main"]);
        }
    });
});

describe("the mirror for the images' packages", () => {
    it.each([
        ["deb http://one.example/debian bookworm main\n", "http://one.example/debian"],
        ["deb [signed-by=/k.gpg arch=amd64] http://two.example/debian bookworm main\n", "http://two.example/debian"],
        [
            "Types: deb\nURIs: http://three.example/debian\nSuites: bookworm bookworm-updates\nComponents: main\n",
            "http://three.example/debian",
        ],
        ["Types: deb\nURIs: http://four.example/security\nSuites: bookworm-security\nComponents: main\n", undefined],
        ["deb http://five.example/ubuntu noble main\n", undefined],
        ["# deb http://six.example/debian bookworm main\n", undefined],
    ])("found in %j is %s", (sources, mirror) => expect(mirrorIn(sources)).toBe(mirror));
});

describe("an image", () => {
    it("lists its user in both passwd and group", () => {
        expect(userEntries({ name: "postgres", id: 999, home: "/var/lib/postgresql" })).toEqual({
            passwd: "postgres:x:999:999::/var/lib/postgresql:/bin/bash",
            group: "postgres:x:999:",
        });
    });

    it("has a reproducible configuration: its layers' digests and a fixed time", () => {
        const image = { references: ["a.example/b:1"], config: { Cmd: ["node"] }, labels: { node: "20" }, layers: [] };
        expect(imageConfiguration(image, ["aa", "bb"], "arm64")).toMatchObject({
            architecture: "arm64",
            created: "1970-01-01T00:00:00Z",
            config: { Cmd: ["node"], Labels: { node: "20" } },
            rootfs: { type: "layers", diff_ids: ["sha256:aa", "sha256:bb"] },
        });
    });
});
