import { load } from "js-yaml";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** A chart repository on this machine, which serves other texts, too. */
export class Repository {
    /** For files of a test's own. */
    readonly folder = mkdtempSync(join(tmpdir(), "chaos-shop-repository-"));
    private readonly served = new Map<string, string | Buffer>();
    private readonly entries: Record<string, object[]> = {};
    private readonly server: Server;

    private constructor() {
        this.server = createServer(({ url }, response) => {
            const body = this.served.get(url!);
            response.writeHead(body === undefined ? 404 : 200).end(body);
        });
    }

    static async open(): Promise<Repository> {
        const repository = new Repository();
        await new Promise<void>((resolve) => repository.server.listen(0, "127.0.0.1", resolve));
        return repository;
    }

    get url(): string {
        return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    }

    /** Adds the chart in a folder. */
    addChart(folder: string): void {
        const { name, version } = load(readFileSync(join(folder, "Chart.yaml"), "utf8")) as {
            name: string;
            version: string;
        };
        const packed = execFileSync("tar", [
            "--create",
            "--gzip",
            "--transform",
            `s/^${basename(folder)}/${name}/`,
            "--directory",
            dirname(folder),
            basename(folder),
        ]);
        const path = `/${name}-${encodeURIComponent(version)}.tgz`;
        this.served.set(path, packed);
        (this.entries[name] ??= []).push({
            apiVersion: "v2",
            name,
            version,
            urls: [this.url + path],
            digest: createHash("sha256").update(packed).digest("hex"),
        });
        this.served.set("/index.yaml", JSON.stringify({ apiVersion: "v1", entries: this.entries }));
    }

    /** Serves a text at a path; returns its URL. */
    publish(path: string, text: string): string {
        this.served.set(path, text);
        return this.url + path;
    }

    /** Writes a file of this name; returns its path. */
    keep(name: string, text: string): string {
        const path = join(this.folder, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
        return path;
    }

    close(): void {
        this.server.close();
        rmSync(this.folder, { recursive: true, force: true });
    }
}
