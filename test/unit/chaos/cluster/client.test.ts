import { expect, it } from "vitest";
import { ApiError, messageOf } from "../../../../chaos/cluster/client";

const forbidden = { kind: "Status", message: 'pods is forbidden: User "ada" cannot list resource "pods"', code: 403 };

it.each([
    ["in its own words", new ApiError(403, JSON.stringify(forbidden)), forbidden.message],
    [
        "by its status if its body cannot be read",
        new ApiError(502, "<html>"),
        "the API server answered with status 502",
    ],
    ["with its own message if it is any other error", new Error("connect ECONNREFUSED"), "connect ECONNREFUSED"],
])("an error of the API server is reported %s", (_, error, reason) => {
    expect(messageOf(error)).toBe(reason);
});
