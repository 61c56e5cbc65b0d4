// Served as it is written. Everything shown comes from two answers of the gateway: /status, which looks at each department
// by itself, and /products, which is whole or fails.

import { followOrders, productRow, showOrdering, showPlaced } from "/ui/order.js";
import { byId, fromTemplate, keepingFocus, write } from "/ui/document.js";

const PAUSE_MS = 1_000;
/** Longer than the gateway gives its slowest backend. */
const PATIENCE_MS = 8_000;
const NAMES = { FASHION: "Fashion", TOYS: "Toys", HOT_DEALS: "Hot deals" };

function showFacts({ variant, isolated }) {
    write(byId("variant"), variant ?? "unknown");
    showOrdering(variant);
    write(byId("isolated"), isolated === null ? "unknown" : isolated.join(", ") || "nothing");
    byId("isolated").dataset.any = String(isolated !== null && isolated.length > 0);
}

function showListing({ ok, status, detail, duration }) {
    byId("listing").dataset.state = ok ? "up" : "down";
    write(byId("listing-word"), ok ? "is whole" : status ? `fails with ${status}` : "does not answer");
    const why = status ? `${detail} It has no fallback: one department takes the whole listing with it.` : detail;
    write(byId("listing-detail"), ok ? `All three departments, gathered in ${duration} ms.` : why);
}

function showDepartment({ category, backend, status, latencyMs, reason = "", products }) {
    const section = byId(category) ?? addDepartment(category);
    const find = (selector) => section.querySelector(selector);
    const [state, word, latency] = {
        UP: ["up", "Up", `${latencyMs} ms`],
        DOWN: ["down", "Down", `after ${latencyMs} ms`],
        UNKNOWN: ["unknown", "Unknown", ""],
    }[status];
    section.dataset.state = state;
    write(find(".word"), word);
    write(find(".latency"), latency);
    write(find(".backend"), backend && `from ${backend}`);
    write(find(".reason"), reason && `Nothing to show: ${reason}`);
    const list = find("ul");
    list.hidden = status !== "UP";
    const shown = JSON.stringify(products);
    if (list.dataset.shown === shown) return;
    list.dataset.shown = shown;
    keepingFocus(list, find("h2"), () => list.replaceChildren(...products.map(productRow)));
}

function addDepartment(category) {
    const section = fromTemplate("department");
    section.id = category;
    const title = section.querySelector("h2");
    title.id = `${category}-title`;
    title.textContent = NAMES[category];
    section.setAttribute("aria-labelledby", title.id);
    byId("departments").append(section);
    return section;
}

/** Tells a screen reader what changed, and nothing while nothing does; what it is like at first can be read. */
let known;
function announce(sentence) {
    if (known !== undefined && sentence !== known) write(byId("announcement"), sentence);
    known = sentence;
}

function inWords(listing, categories) {
    if (!listing.status) return listing.detail;
    const down = categories.filter(({ status }) => status === "DOWN").map(({ category }) => NAMES[category]);
    const unknown = categories.some(({ status }) => status === "UNKNOWN");
    const departments = unknown
        ? "How the departments are is not known."
        : down.length === 0
          ? "All departments are up."
          : `Down: ${down.join(", ")}.`;
    return `The listing ${listing.ok ? "is whole" : "fails"}. ${departments}`;
}

async function askListing() {
    try {
        const response = await fetch("/products", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
        return {
            ok: response.ok,
            status: response.status,
            ...(await response.json()),
            ...(response.ok && { detail: "" }),
        };
    } catch {
        return { ok: false, detail: "The gateway does not answer." };
    }
}

async function askStatus() {
    try {
        const response = await fetch("/status", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
        return response.ok ? await response.json() : undefined;
    } catch {
        return undefined;
    }
}

/** What was seen last of the departments is no longer true where the gateway says nothing of them. */
function unknownStatus() {
    const categories = [...document.querySelectorAll(".department")].map(({ id }) => ({
        category: id,
        backend: "",
        status: "UNKNOWN",
        reason: "the gateway says nothing of it.",
        products: [],
    }));
    return { categories, variant: null, isolated: null };
}

async function look() {
    showPlaced();
    const [listing, status] = await Promise.all([askListing(), askStatus()]);
    const shown = status ?? unknownStatus();
    showListing(listing);
    showFacts(shown);
    shown.categories.forEach(showDepartment);
    announce(inWords(listing, shown.categories));
}

/** Resolves at once while the page is in view, else when it comes back. */
const inView = () =>
    new Promise((resolve) => {
        if (!document.hidden) return resolve();
        document.addEventListener("visibilitychange", () => resolve(inView()), { once: true });
    });

async function again(work) {
    for (;;) {
        await inView();
        await work();
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
}

// Beside one another: while orders does not answer, the departments are looked at each second all the same.
void again(look);
void again(followOrders);
