import { expect, it } from "vitest";
import { waitMsOf } from "../../../services/shared/order";

it.each([
    ["wait=10", 10_000],
    ['respond-async, WAIT="5"; foo', 5_000],
    ["wait = 1, handling=lenient", 1_000],
    ["wait=30", 30_000],
    ["wait=3600", 30_000],
    [undefined, 0],
    ["", 0],
    ["wait", 0],
    ["wait=soon", 0],
    ["wait=-1", 0],
    ["await=10", 0],
])("Prefer: %s waits %i ms", (header, ms) => expect(waitMsOf(header)).toBe(ms));
