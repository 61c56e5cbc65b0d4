// An order: what is in it, placing it, and what becomes of those that were placed.

import { byId, fromTemplate, write } from "/ui/document.js";

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
 * `basket` has the name and the quantity of each product by its id. `key` is what the basket is placed with: one that does
 * not change while the basket does not, so that however often it is sent it is one order. Kept for as long as the tab is
 * there, so that a reload neither loses an order nor places it twice.
 */
const mine = { basket: {}, key: undefined, placed: [], ...JSON.parse(storage?.getItem(STORE) ?? null) };
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

/** Another basket is another order. */
function change(how) {
    how();
    mine.key = undefined;
    keep();
    document.querySelectorAll("[data-product]").forEach(showCount);
}

function showBasket() {
    const items = Object.entries(mine.basket);
    byId("basket-empty").hidden = items.length > 0;
    byId("basket").replaceChildren(...items.map(basketRow));
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
        // Its button is gone, and must not take the keyboard's place along.
        byId("order-title").focus();
    });
    return row;
}

/** Not `crypto.randomUUID`, which a page has over TLS alone. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

let placing = false;
async function place() {
    if (placing) return;
    // What is added while it is on its way is for the next.
    const basket = structuredClone(mine.basket);
    const items = Object.entries(basket).map(([productId, { quantity }]) => ({ productId, quantity }));
    if (items.length === 0) return news("There is nothing in it yet: add a product first.");
    placing = true;
    mine.key ??= newKey();
    keep();
    news("The order is being placed.");
    try {
        const headers = { "Content-Type": "application/json", "Idempotency-Key": mine.key };
        const response = await fetch("/orders", { method: "POST", headers, body: JSON.stringify({ items }), signal: AbortSignal.timeout(PATIENCE_MS) });
        const answer = await response.json();
        if (response.ok) accept(answer, basket);
        else news(`Not accepted (${response.status}): ${answer.detail}${response.status < 500 ? "" : ` ${AGAIN}`}`);
    } catch {
        news(`The gateway did not answer. ${AGAIN}`);
    } finally {
        placing = false;
    }
}
const AGAIN = "Your order is as it was. Place it again: unchanged it is the same order, and never becomes two.";

function accept({ id, state }, basket) {
    mine.placed.unshift({ id, state, basket, seenAt: Date.now() });
    change(() => Object.keys(basket).forEach((product) => delete mine.basket[product]));
    showBasket();
    showPlaced();
    news(`Order ${short(id)} was accepted.`);
}

/** Asks what became of the orders that nothing has become of yet. */
export async function followOrders() {
    await Promise.all(mine.placed.filter(({ state }) => state === "ACCEPTED").map(follow));
    showPlaced();
}

async function follow(order) {
    try {
        const response = await fetch(`/orders/${order.id}`, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
        const answer = await response.json();
        order.problem = response.ok ? undefined : answer.detail;
        if (!response.ok || answer.state === order.state) return;
        const { state, reason = "", acceptedAt, settledAt } = answer;
        // A customer knows products by their names.
        const named = Object.entries(order.basket).reduce((text, [product, { name }]) => text.replaceAll(product, name), reason);
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

function showPlaced() {
    byId("placed-title").hidden = mine.placed.length === 0;
    const list = byId("placed");
    while (list.children.length < mine.placed.length) list.append(fromTemplate("placed-order"));
    mine.placed.forEach(({ id, state, basket, reason = "", problem, seenAt, settledMs }, index) => {
        const row = list.children[index];
        const find = (selector) => row.querySelector(selector);
        row.dataset.state = state;
        write(find(".word"), WORDS[state]);
        write(find(".since"), state === "ACCEPTED" ? `and waiting for the inventory, ${Math.round((Date.now() - seenAt) / 1_000)} s so far` : `after ${seconds(settledMs)}`);
        write(find(".id"), short(id));
        write(find(".items"), Object.values(basket).map(({ name, quantity }) => `${quantity} × ${name}`).join(", "));
        write(find(".reason"), problem === undefined ? reason : `What became of it cannot be told now: ${problem}`);
    });
}

document.querySelector("#order form").addEventListener("submit", (event) => {
    event.preventDefault();
    void place();
});
showBasket();
showPlaced();
