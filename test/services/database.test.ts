import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { describeOnPostgres, TestDatabase } from "./support/database";
import { local, until } from "../support/until";

describeOnPostgres("the product database", () => {
    let database: TestDatabase;
    beforeAll(async () => {
        database = await TestDatabase.started();
    });
    afterAll(() => database?.remove());

    const products = () =>
        database.query(
            (sql) => sql<{ id: string; name: string; category: string }[]>`select * from product order by id`,
        );

    it("starts with 8 to 12 products per category, each with a UUID and a unique name", async () => {
        const rows = await products();
        expect(rows.every(({ id }) => z.uuid().safeParse(id).success)).toBe(true);
        expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
        for (const category of ["FASHION", "TOYS", "HOT_DEALS"]) {
            const count = rows.filter((row) => row.category === category).length;
            expect(count).toBeGreaterThanOrEqual(8);
            expect(count).toBeLessThanOrEqual(12);
        }
    });

    it("keeps changed products over a restart, and accepts a changed password", async () => {
        const before = await products();
        await database.asOwner((sql) => sql`update product set name = 'Renamed' where id = ${before[0]!.id}`);
        await database.stop();
        database.setPassword("owner", "a new one");
        await database.start();
        expect(await products()).toEqual([{ ...before[0], name: "Renamed" }, ...before.slice(1)]);
        await expect(database.asOwner((sql) => sql`select 1`)).rejects.toThrow("password authentication failed");
        await database.query((sql) => sql`select 1`, "shop", "a new one");
    });

    it("lets the catalogue's account only read, and does not let the superuser in", async () => {
        await expect(database.query((sql) => sql`delete from product`)).rejects.toThrow("permission denied");
        await expect(database.query((sql) => sql`create table mine (a int)`)).rejects.toThrow("permission denied");
        await expect(database.query((sql) => sql`select 1`, "postgres")).rejects.toThrow("no pg_hba.conf entry");
        await expect(database.query((sql) => sql`select 1`, "shop_reader", "guess")).rejects.toThrow("password");
    });

    it("stops cleanly on SIGTERM without waiting for an open transaction", async () => {
        let stopped: ReturnType<typeof database.stop>;
        const cutOff = database.query((sql) =>
            sql.begin(async (transaction) => {
                await transaction`select 1`;
                stopped = database.stop();
                await stopped;
            }),
        );
        await expect(cutOff).rejects.toThrow();
        // The transaction ends after the stop: a server that waited for it would never stop.
        expect(await stopped!).toBe(0);
        expect(database.output()).toContain("received fast shutdown request");
        expect(database.output()).toContain("database system is shut down");
    });

    it("locks its data against a second server while a process of the first one lives", async () => {
        await database.start();
        const lockIsFree = () => spawnSync("flock", ["-n", `${database.dataFolder}.lock`, "true"]).status === 0;
        expect(lockIsFree()).toBe(false);
        await database.killShellOnly();
        expect(lockIsFree()).toBe(false);
        await database.kill();
        await until("the lock is free", lockIsFree, { ...local, timeoutMs: 2000 });
    });
});

describeOnPostgres("the product database's first start", () => {
    let database: TestDatabase;
    beforeEach(async () => {
        database = await TestDatabase.create();
    });
    afterEach(() => database?.remove());

    const moments: { when: string; hasCome: () => boolean }[] = [
        { when: "its data are incomplete", hasCome: () => existsSync(join(database.folder, "volume/shop.new/base")) },
        { when: "the accounts are made", hasCome: () => database.output().includes("ready to accept connections") },
        { when: "it opens to the network", hasCome: () => database.output().includes("serves the products") },
    ];
    const table = moments.map(({ when, hasCome }) => [when, hasCome] as const);
    it.each(table)("is completed by the next start if it was killed while %s", async (_when, hasCome) => {
        database.launch();
        await until("the moment to kill it has come", hasCome, local);
        await database.kill();
        await database.start();
        const products = await database.query((sql) => sql`select id from product`);
        expect(products.length).toBeGreaterThanOrEqual(24);
        expect(readdirSync(join(database.folder, "volume")).sort()).toEqual(["shop", "shop.lock"]);
    });

    it("ends on SIGTERM before it has finished, and the next start completes it", async () => {
        database.launch();
        await until("the accounts are made", () => database.output().includes("ready to accept connections"), local);
        expect(await database.stop()).toBe(143);
        expect(database.output()).not.toContain("serves the products");
        await database.start();
    });

    it("names every mistake in its environment at once", async () => {
        database.setPassword("owner", "");
        rmSync(join(database.folder, "passwords", "reader"));
        const server = database.launch({ PGDATA: "data", RUN_DIR: "/none" });
        await until("it exits", () => server.exitCode !== null, local);
        expect(server.exitCode).toBe(1);
        const mistakes = [
            "/passwords/owner is no file with a password",
            "/passwords/reader is no file with a password",
            "PGDATA is 'data'",
            "RUN_DIR is /none",
        ];
        for (const mistake of mistakes) {
            expect(database.output()).toContain(mistake);
        }
    });

    it("never overwrites a folder with other data", async () => {
        mkdirSync(database.dataFolder);
        writeFileSync(join(database.dataFolder, "diary.txt"), "mine");
        const server = database.launch();
        await until("it exits", () => server.exitCode !== null, local);
        expect(database.output()).toContain("holds something that is no database");
        expect(execFileSync("cat", [join(database.dataFolder, "diary.txt")], { encoding: "utf8" })).toBe("mine");
    });
});
