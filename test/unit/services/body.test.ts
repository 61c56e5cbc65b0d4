import type { Hono } from "hono";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createApplication } from "../../../services/shared/application";
import { readJsonBody } from "../../../services/shared/body";
import { createLog } from "../../../services/shared/log";

describe("a JSON body", () => {
    const schema = z.strictObject({ items: z.array(z.strictObject({ quantity: z.int().min(1).max(100) })).min(1) });
    const application: Hono = createApplication(createLog("test", "silent"));
    application.post("/", async (context) => context.json(await readJsonBody(context, schema)));
    const post = (body: string, type = "application/json") =>
        application.request("/", { method: "POST", body, headers: { "Content-Type": type } });

    it("that matches its schema is read", async () => {
        const document = { items: [{ quantity: 3 }] };
        expect(await (await post(JSON.stringify(document), "application/json; charset=utf-8")).json()).toEqual(
            document,
        );
    });

    it.each([
        ["that is not JSON", "{", "application/json", 400],
        ["that is empty", "", "application/json", 400],
        ["whose content type is not JSON", "{}", "text/plain", 415],
    ] as const)("%s is refused", async (_what, body, type, status) => {
        const response = await post(body, type);
        expect(response.status).toBe(status);
        expect(response.headers.get("content-type")).toBe("application/problem+json");
    });

    it("that does not match is refused, with every wrong field", async () => {
        const response = await post(
            JSON.stringify({ items: [{ quantity: 1 }, { quantity: 0 }, { quantity: 1e9, colour: "red" }] }),
        );
        const { errors, detail } = (await response.json()) as { errors: { pointer: string }[]; detail: string };
        expect(response.status).toBe(422);
        expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
            "/items/1/quantity",
            "/items/2",
            "/items/2/quantity",
        ]);
        expect(detail).toContain("/items/1/quantity: ");
        expect(detail).toContain("colour");
    });
});
