import { ApiException } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { reasonOf } from "../../../shared/kubernetes";

const forbidden = { kind: "Status", message: 'pods is forbidden: User "ada" cannot list resource "pods"', code: 403 };

it.each([
    ["in its own words", new ApiException(403, "Forbidden", forbidden, {}), forbidden.message],
    [
        "in its own words where the client knows no such answer",
        new ApiException(422, "Unknown API Status Code!", JSON.stringify(forbidden), {}),
        forbidden.message,
    ],
    [
        "by its status where it said nothing that can be read",
        new ApiException(502, "Unknown API Status Code!", "<html>", {}),
        "the API server answered with status 502",
    ],
    ["and whatever else went wrong as it says", new Error("connect ECONNREFUSED"), "connect ECONNREFUSED"],
])("a refusal of the API server is told %s", (_, error, reason) => {
    expect(reasonOf(error)).toBe(reason);
});
