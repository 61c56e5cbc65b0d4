// Served without a build step. Everything shown comes from two responses of the gateway: /status, which has each
// department separately, and /products, which is complete or fails.

import { followOrders, productRow, showOrdering, showPlaced } from "/ui/order.js";
import { byId, fromTemplate, keepingFocus, write } from "/ui/document.js";

const PAUSE_MS = 1_000;
/** Longer than the gateway's timeout for a backend. */
const TIMEOUT_MS = 8_000;
const NAMES = { FASHION: "Fashion", TOYS: "Toys", HOT_DEALS: "Hot deals" };

function showFacts({ variant, isolated }) {
    write(byId("variant"), variant ?? "unknown");
    showOrdering(variant);
    write(byId("isolated"), isolated === null ? "unknown" : isolated.join(", ") || "nothing");
    byId("isolated").dataset.any = String(isolated !== null && isolated.length > 0);
}

function showListing({ ok, status, detail, duration }) {
    byId("listing").dataset.state = ok ? "up" : "down";
    write(byId("listing-word"), ok ? "is complete" : status ? `fails with ${status}` : "does not answer");
    const why = status ? `${detail} There is no fallback: one failed department fails the whole listing.` : detail;
    write(byId("listing-detail"), ok ? `All three departments answered within ${duration} ms.` : why);
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

/** Announces changes to screen readers. The first state is not announced: it can be read on the page. */
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
        ? "The state of the departments is unknown."
        : down.length === 0
          ? "All departments are up."
          : `Down: ${down.join(", ")}.`;
    return `The listing ${listing.ok ? "is complete" : "fails"}. ${departments}`;
}

async function askListing() {
    try {
        const response = await fetch("/products", { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
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
        const response = await fetch("/status", { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
        return response.ok ? await response.json() : undefined;
    } catch {
        return undefined;
    }
}

/** Without a response from the gateway, the last known state may be wrong. */
function unknownStatus() {
    const categories = [...document.querySelectorAll(".department")].map(({ id }) => ({
        category: id,
        backend: "",
        status: "UNKNOWN",
        reason: "the gateway does not answer.",
        products: [],
    }));
    return { categories, variant: null, isolated: null };
}

async function refresh() {
    showPlaced();
    const [listing, status] = await Promise.all([askListing(), askStatus()]);
    const shown = status ?? unknownStatus();
    showListing(listing);
    showFacts(shown);
    shown.categories.forEach(showDepartment);
    announce(inWords(listing, shown.categories));
}

/** Resolves when the page is visible. */
const visible = () =>
    new Promise((resolve) => {
        if (!document.hidden) return resolve();
        document.addEventListener("visibilitychange", () => resolve(visible()), { once: true });
    });

async function repeat(work) {
    for (;;) {
        await visible();
        await work();
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
}

// Separate loops: the departments are updated each second even if orders does not answer.
void repeat(refresh);
void repeat(followOrders);
