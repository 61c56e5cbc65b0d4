// Orders: the basket, placing an order, and the state of placed orders.

import { ask, byId, fill, fromTemplate, keepingFocus, write } from "/ui/document.js";

/** Longer than the gateway's timeout for orders. */
const TIMEOUT_MS = 5_000;
/** The maximum quantity of a product in an order. */
const MOST = 100;
const STORE = "chaos-shop-order";
/** Undefined in a browser whose settings forbid storage. */
const storage = (() => {
    try {
        return sessionStorage;
    } catch {
        return undefined;
    }
})();

/**
 * `basket`: name and quantity of each product, by its id. `sending`: the order that has no final answer yet, with its
 * basket and its idempotency key. Stored until the tab closes: a reload neither loses an order nor places it twice.
 */
const mine = { basket: {}, sending: undefined, placed: [], ...JSON.parse(storage?.getItem(STORE) ?? null) };
const keep = () => storage?.setItem(STORE, JSON.stringify(mine));
const news = (sentence) => write(byId("order-news"), sentence);

/** An unknown variant (null) leaves the form as it is: a customer may be filling it in. */
export function showOrdering(variant) {
    if (variant === null) return;
    byId("order").hidden = variant !== "seven";
    byId("no-orders").hidden = variant === "seven";
    document.body.dataset.orders = String(variant === "seven");
}

/** A product in a department's list, with a button that adds it to the order. */
export function productRow({ id, name }) {
    const row = fromTemplate("product");
    row.dataset.product = id;
    row.querySelector(".name").textContent = name;
    row.querySelector(".unseen").textContent = ` ${name} to the order`;
    row.querySelector(".add").addEventListener("click", () => {
        const { quantity = 0 } = mine.basket[id] ?? {};
        change(() => (mine.basket[id] = { name, quantity: Math.min(quantity + 1, MOST) }));
        showBasket();
    });
    showCount(row);
    return row;
}

function showCount(row) {
    const { quantity } = mine.basket[row.dataset.product] ?? {};
    write(row.querySelector(".count"), quantity === undefined ? "" : `${quantity} in your order`);
}

function change(how) {
    how();
    keep();
    document.querySelectorAll("[data-product]").forEach(showCount);
}

function showBasket() {
    const items = Object.entries(mine.basket);
    byId("basket-empty").hidden = items.length > 0;
    keepingFocus(byId("basket"), byId("order-title"), (list) => list.replaceChildren(...items.map(basketRow)));
}

function basketRow([id, { name, quantity }]) {
    const row = fromTemplate("basket-item");
    row.querySelector(".name").textContent = name;
    row.querySelector(".remove .unseen").textContent = ` ${name}`;
    const input = row.querySelector("input");
    input.value = quantity;
    input.addEventListener("input", () => {
        if (input.validity.valid) change(() => (mine.basket[id].quantity = input.valueAsNumber));
    });
    row.querySelector(".remove").addEventListener("click", () => {
        change(() => delete mine.basket[id]);
        showBasket();
    });
    return row;
}

/** Not `crypto.randomUUID`, which requires HTTPS. */
const newKey = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

let placing = false;
async function place() {
    if (placing) return;
    if (mine.sending === undefined) {
        if (Object.keys(mine.basket).length === 0) return news("Your order is empty: add a product first.");
        mine.sending = { key: newKey(), basket: structuredClone(mine.basket) };
        keep();
    }
    placing = true;
    news("Placing the order.");
    try {
        await send(mine.sending);
    } catch {
        news(`The gateway did not answer; it may have accepted the order. ${AGAIN}`);
    } finally {
        placing = false;
    }
}
const AGAIN =
    "Place it again: it is sent unchanged and never placed twice. Changes you make now go into the next order.";
/** Statuses of a final refusal, whatever happened to earlier attempts. */
const REFUSED = [400, 422];

/** Sends an order. Only a final answer lets the next one be placed. */
async function send({ key, basket }) {
    const items = Object.entries(basket).map(([productId, { quantity }]) => ({ productId, quantity }));
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    const request = { method: "POST", headers, body: JSON.stringify({ items }) };
    const { ok, status, answer } = await ask("/orders", TIMEOUT_MS, request);
    if (!ok && !REFUSED.includes(status)) return news(`Not accepted yet (${status}): ${answer.detail} ${AGAIN}`);
    mine.sending = undefined;
    keep();
    if (ok) accept(answer.id, basket);
    else news(`Not accepted (${status}): ${answer.detail}`);
}

function accept(id, basket) {
    mine.placed.unshift({ id, state: "ACCEPTED", basket, seenAt: Date.now() });
    change(() => Object.entries(basket).forEach(takeOut));
    showBasket();
    showPlaced();
    news(`Order ${short(id)} was accepted.`);
}

/** Products added while an order is on its way stay in the basket. */
function takeOut([product, { name, quantity }]) {
    const left = (mine.basket[product]?.quantity ?? 0) - quantity;
    if (left > 0) mine.basket[product] = { name, quantity: left };
    else delete mine.basket[product];
}

/**
 * Reads the state of undecided orders, one at a time: if orders does not answer, parallel requests would use up the
 * browser's connections to the server.
 */
export async function followOrders() {
    for (const order of mine.placed.filter(({ state }) => state === "ACCEPTED")) {
        await follow(order);
        showPlaced();
    }
}

async function follow(order) {
    try {
        const { ok, answer } = await ask(`/orders/${order.id}`, TIMEOUT_MS);
        order.problem = ok ? undefined : answer.detail;
        if (!ok || answer.state === order.state) return;
        const { state, reason = "", acceptedAt, settledAt } = answer;
        // Customers know names, not ids.
        const named = Object.entries(order.basket).reduce(
            (text, [product, { name }]) => text.replaceAll(product, name),
            reason,
        );
        Object.assign(order, { state, reason: named, settledMs: Date.parse(settledAt) - Date.parse(acceptedAt) });
        keep();
        news(`Order ${short(order.id)} was ${WORDS[state].toLowerCase()}. ${named}`);
    } catch {
        order.problem = "the gateway does not answer.";
    }
}

const WORDS = { ACCEPTED: "Accepted", FULFILLED: "Fulfilled", REJECTED: "Rejected" };
const short = (id) => id.slice(0, 8);
const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;

/** Shows the placed orders, and how long they have been waiting. */
export function showPlaced() {
    byId("placed-title").hidden = mine.placed.length === 0;
    const list = byId("placed");
    while (list.children.length < mine.placed.length) list.append(fromTemplate("placed-order"));
    mine.placed.forEach(({ id, state, basket, reason = "", problem, seenAt, settledMs }, index) => {
        const row = list.children[index];
        const items = Object.values(basket).map(({ name, quantity }) => `${quantity} × ${name}`);
        row.dataset.state = state;
        fill(row, {
            ".word": WORDS[state],
            ".since":
                state === "ACCEPTED"
                    ? `and waiting for the inventory, ${Math.round((Date.now() - seenAt) / 1_000)} s so far`
                    : `after ${seconds(settledMs)}`,
            ".id": short(id),
            ".items": items.join(", "),
            ".reason": problem === undefined ? reason : `State unknown: ${problem}`,
        });
    });
}

document.querySelector("#order form").addEventListener("submit", (event) => {
    event.preventDefault();
    void place();
});
if (mine.sending) news(`Your last order has not been answered. ${AGAIN}`);
showBasket();
showPlaced();
