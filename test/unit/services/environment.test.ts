import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { catalogueEnvironment } from "../../../services/catalogue/catalogue-app";
import { gatewayEnvironment } from "../../../services/gateway/gateway-app";
import { EnvironmentError, readEnvironment } from "../../../services/shared/environment";

const backends = {
    FASHION_URL: "http://fashion-bestseller",
    TOYS_URL: "http://toys-bestseller",
    HOT_DEALS_URL: "http://hot-deals:8080",
};

function mistakesOf(read: () => unknown): string[] {
    try {
        read();
    } catch (error) {
        expect(error).toBeInstanceOf(EnvironmentError);
        return (error as EnvironmentError).mistakes;
    }
    return [];
}

describe("a program's environment", () => {
    it("requires only variables without a sensible default", () => {
        expect(readEnvironment(gatewayEnvironment, backends)).toMatchObject({
            PORT: 8080,
            LOG_LEVEL: "info",
            UPSTREAM_TIMEOUT_MS: 2000,
            HOT_DEALS_URL: new URL("http://hot-deals:8080"),
        });
        const least = { CATEGORY: "TOYS", PGHOST: "product-db", PGPASSWORD: "secret" };
        expect(readEnvironment(catalogueEnvironment, least)).toStrictEqual({
            ...least,
            PORT: 8080,
            LOG_LEVEL: "info",
            PGPORT: 5432,
            PGUSER: "shop_reader",
            PGDATABASE: "shop",
            SHUTDOWN_DELAY_MS: 0,
            QUERY_TIMEOUT_MS: 1500,
        });
    });

    it("is rejected with every mistake at once: the variable, its value, and what is allowed", () => {
        const environment = {
            FASHION_URL: "ftp://x",
            TOYS_URL: "",
            PORT: "80 80",
            UPSTREAM_TIMEOUT_MS: "0",
            LOG_LEVEL: "loud",
        };
        expect(mistakesOf(() => readEnvironment(gatewayEnvironment, environment)).sort()).toEqual([
            'FASHION_URL is "ftp://x"; set an http:// address, for example http://fashion-bestseller',
            "HOT_DEALS_URL is not set; set an http:// address, for example http://hot-deals",
            'LOG_LEVEL is "loud"; set one of trace, debug, info, warn, error, fatal, silent',
            'PORT is "80 80"; set a port from 1 to 65535, for example 8080',
            "TOYS_URL is empty; set an http:// address, for example http://toys-bestseller",
            'UPSTREAM_TIMEOUT_MS is "0"; set a whole number of milliseconds from 1 to 60000, for example 2000',
        ]);
        const other = { CATEGORY: "BOOKS", PGPASSWORD: "" };
        expect(mistakesOf(() => readEnvironment(catalogueEnvironment, other)).sort()).toEqual([
            'CATEGORY is "BOOKS"; set one of FASHION, TOYS, HOT_DEALS',
            "PGHOST is not set; set it, for example to product-db",
            "PGPASSWORD is empty; set PGPASSWORD_FILE to a file with the password of PGUSER, from a Secret",
        ]);
    });

    it("takes a password from the file that PGPASSWORD_FILE names", () => {
        const folder = mkdtempSync(join(tmpdir(), "shop-environment-"));
        const file = (name: string, text: string) => {
            writeFileSync(join(folder, name), text);
            return join(folder, name);
        };
        const least = { CATEGORY: "TOYS", PGHOST: "product-db", PGPASSWORD_FILE: file("reader", "secret\n") };
        const earlier = { ...least, PGPASSWORD: "the one before" };
        for (const environment of [least, earlier])
            expect(readEnvironment(catalogueEnvironment, environment).PGPASSWORD).toBe("secret");

        for (const [name, mistake] of [
            [join(folder, "none"), "which cannot be read: ENOENT"],
            [file("empty", ""), "which is empty"],
        ] as const) {
            const [found, ...others] = mistakesOf(() =>
                readEnvironment(catalogueEnvironment, { ...least, PGPASSWORD_FILE: name }),
            );
            expect(found).toContain(`PGPASSWORD_FILE is "${name}", ${mistake}`);
            expect(found).toMatch(/; mount the Secret with the password there$/);
            expect(others).toEqual([]);
        }
        rmSync(folder, { recursive: true });
    });
});
