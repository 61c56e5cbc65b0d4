// An order: what is in it, placing it, and what becomes of those that were placed.

import { byId, fromTemplate, keepingFocus, write } from "/ui/document.js";

/** Longer than the gateway waits for orders. */
const PATIENCE_MS = 5_000;
/** The most of a product that an order may ask for. */
const MOST = 100;
const STORE = "chaos-shop-order";
/** A browser may have been told to keep nothing, and then throws. */
const storage = (() => {
    try {
        return sessionStorage;
    } catch {
        return undefined;
    }
})();

/**
 * `basket` has the name and the quantity of each product by its id. `sending` is what was placed and not yet answered for
 * good: the basket as it was, and the key that makes it one order however often it is sent. Kept for as long as the tab is
 * there, so that a reload neither loses an order nor places it twice.
 */
const mine = { basket: {}, sending: undefined, placed: [], ...JSON.parse(storage?.getItem(STORE) ?? null) };
const keep = () => storage?.setItem(STORE, JSON.stringify(mine));
const news = (sentence) => write(byId("order-news"), sentence);

/** What is not known leaves the form as it was: somebody may be filling it in. */
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

/** Not `crypto.randomUUID`, which a page has over TLS alone. */
const newKey = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

let placing = false;
async function place() {
    if (placing) return;
    if (mine.sending === undefined) {
        if (Object.keys(mine.basket).length === 0) return news("There is nothing in it yet: add a product first.");
        mine.sending = { key: newKey(), basket: structuredClone(mine.basket) };
        keep();
    }
    placing = true;
    news("The order is being placed.");
    try {
        await send(mine.sending);
    } catch {
        news(`The gateway did not answer, and the order may have been accepted all the same. ${AGAIN}`);
    } finally {
        placing = false;
    }
}
const AGAIN = "Place it again: it is sent as it was, and never becomes two; what you change now is for the next.";
/** Besides the good ones, the statuses that say of an order what is so forever, whatever became of earlier tries. */
const REFUSED = [400, 422];

/** Sends what was placed. Only an answer that settles it lets another basket be placed. */
async function send({ key, basket }) {
    const items = Object.entries(basket).map(([productId, { quantity }]) => ({ productId, quantity }));
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    const response = await fetch("/orders", {
        method: "POST",
        headers,
        body: JSON.stringify({ items }),
        signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const answer = await response.json();
    if (!response.ok && !REFUSED.includes(response.status))
        return news(`Not accepted yet (${response.status}): ${answer.detail} ${AGAIN}`);
    mine.sending = undefined;
    keep();
    if (response.ok) accept(answer.id, basket);
    else news(`Not accepted (${response.status}): ${answer.detail}`);
}

/** What became of it meanwhile, where it was sent before, is asked like any other order's. */
function accept(id, basket) {
    mine.placed.unshift({ id, state: "ACCEPTED", basket, seenAt: Date.now() });
    change(() => Object.entries(basket).forEach(takeOut));
    showBasket();
    showPlaced();
    news(`Order ${short(id)} was accepted.`);
}

/** What was added while an order was on its way is for the next. */
function takeOut([product, { name, quantity }]) {
    const left = (mine.basket[product]?.quantity ?? 0) - quantity;
    if (left > 0) mine.basket[product] = { name, quantity: left };
    else delete mine.basket[product];
}

/**
 * Asks what became of the orders that nothing has become of yet: one at a time, since a browser has few connections to a
 * server, and where orders does not answer they would all be taken.
 */
export async function followOrders() {
    for (const order of mine.placed.filter(({ state }) => state === "ACCEPTED")) {
        await follow(order);
        showPlaced();
    }
}

async function follow(order) {
    try {
        const response = await fetch(`/orders/${order.id}`, {
            cache: "no-store",
            signal: AbortSignal.timeout(PATIENCE_MS),
        });
        const answer = await response.json();
        order.problem = response.ok ? undefined : answer.detail;
        if (!response.ok || answer.state === order.state) return;
        const { state, reason = "", acceptedAt, settledAt } = answer;
        // A customer knows products by their names.
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

/** The placed orders, with how long they have been waiting. */
export function showPlaced() {
    byId("placed-title").hidden = mine.placed.length === 0;
    const list = byId("placed");
    while (list.children.length < mine.placed.length) list.append(fromTemplate("placed-order"));
    mine.placed.forEach(({ id, state, basket, reason = "", problem, seenAt, settledMs }, index) => {
        const row = list.children[index];
        const find = (selector) => row.querySelector(selector);
        row.dataset.state = state;
        write(find(".word"), WORDS[state]);
        write(
            find(".since"),
            state === "ACCEPTED"
                ? `and waiting for the inventory, ${Math.round((Date.now() - seenAt) / 1_000)} s so far`
                : `after ${seconds(settledMs)}`,
        );
        write(find(".id"), short(id));
        write(
            find(".items"),
            Object.values(basket)
                .map(({ name, quantity }) => `${quantity} × ${name}`)
                .join(", "),
        );
        write(find(".reason"), problem === undefined ? reason : `What became of it cannot be told now: ${problem}`);
    });
}

document.querySelector("#order form").addEventListener("submit", (event) => {
    event.preventDefault();
    void place();
});
if (mine.sending) news(`The order that was placed last has had no answer. ${AGAIN}`);
showBasket();
showPlaced();
