// Served without a build step. Everything shown comes from two responses of the gateway: /status, which has each
// department separately, and /products, which is complete or fails.

import { pictureOf, rangeOf, sentenceOf, withSample } from "/ui/latency.js";
import { followOrders, productRow, showOrdering, showPlaced } from "/ui/order.js";
import { byId, fromTemplate, keepingFocus, write } from "/ui/document.js";

const PAUSE_MS = 1_000;
/** Longer than the gateway's timeout for a backend. */
const TIMEOUT_MS = 8_000;
const NAMES = { FASHION: "Fashion", TOYS: "Toys", HOT_DEALS: "Hot deals" };

/** More names of pods would not be read. */
const MOST_NAMES = 3;

function showFacts({ variant, attacks }) {
    write(byId("variant"), variant ?? "unknown");
    showOrdering(variant);
    write(byId("attack"), attacks === null ? "unknown" : attacks.map(inOneLine).join("\n") || "none");
    byId("attack").dataset.any = String(attacks !== null && attacks.length > 0);
}

const inOneLine = ({ workload, effect }) => `${workload} is ${effect}`;

function withPods({ effect, pods }) {
    const more = pods.length - MOST_NAMES;
    const names = pods.slice(0, MOST_NAMES).join(", ");
    return `Under attack: ${effect}\n${names}${more > 0 ? ` and ${more} more` : ""}`;
}

function showListing({ ok, status, detail, duration }) {
    byId("listing").dataset.state = ok ? "up" : "down";
    write(byId("listing-word"), ok ? "is complete" : status ? `fails with ${status}` : "does not answer");
    const why = status ? `${detail} There is no fallback: one failed department fails the whole listing.` : detail;
    write(byId("listing-detail"), ok ? `All three departments answered within ${duration} ms.` : why);
}

function showDepartment({ category, backend, status, latencyMs, reason = "", products }, attacks) {
    const section = byId(category) ?? addDepartment(category);
    const find = (selector) => section.querySelector(selector);
    const [state, word, latency] = {
        UP: ["up", "Up", `${latencyMs} ms`],
        DOWN: [
            "down",
            "Down",
            latencyMs < 1_000 ? `after ${latencyMs} ms` : `after ${(latencyMs / 1_000).toFixed(1)} s`,
        ],
        UNKNOWN: ["unknown", "Unknown", ""],
    }[status];
    section.dataset.state = state;
    write(find(".word"), word);
    write(find(".latency"), latency);
    write(find(".backend"), backend && `from ${backend}`);
    const own = attacks?.filter(({ workload }) => workload === backend) ?? [];
    write(find(".attack"), own.map(withPods).join("\n"));
    showLatency(section, { at: Date.now(), status, latencyMs });
    write(find(".reason"), reason && `Nothing to show: ${reason}`);
    const list = find("ul");
    list.hidden = status !== "UP";
    const shown = JSON.stringify(products);
    if (list.dataset.shown === shown) return;
    list.dataset.shown = shown;
    keepingFocus(list, find("h2"), () => list.replaceChildren(...products.map(productRow)));
}

/** By department: the samples of the last minute. */
const samples = {};

function showLatency(section, sample) {
    const known = (samples[section.id] = withSample(samples[section.id] ?? [], sample));
    const minute = section.querySelector(".minute");
    const svg = minute.querySelector("svg");
    const { answered, failed, grid, end } = pictureOf(known, { width: svg.clientWidth, height: svg.clientHeight });
    svg.querySelector(".answered").setAttribute("d", answered);
    svg.querySelector(".failed").setAttribute("d", failed);
    svg.querySelectorAll(".grid g").forEach((group, index) => {
        const { y, text } = grid[index];
        group.setAttribute("transform", `translate(0 ${y})`);
        group.querySelector("path").setAttribute("d", `M0 0h${end}`);
        group.querySelector("text").setAttribute("x", end + 6);
        write(group.querySelector("text"), text);
    });
    write(minute.querySelector(".range"), capitalized(rangeOf(known)));
    minute.setAttribute("aria-label", sentenceOf(NAMES[section.id], known));
}

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

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

function inWords(listing, { categories, attacks }) {
    if (!listing.status) return listing.detail;
    const down = categories.filter(({ status }) => status === "DOWN").map(({ category }) => NAMES[category]);
    const unknown = categories.some(({ status }) => status === "UNKNOWN");
    const departments = unknown
        ? "The state of the departments is unknown."
        : down.length === 0
          ? "All departments are up."
          : `Down: ${down.join(", ")}.`;
    const attacked = (attacks ?? []).map((attack) => ` Under attack: ${inOneLine(attack)}.`);
    return `The listing ${listing.ok ? "is complete" : "fails"}. ${departments}${attacked.join("")}`;
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
    return { categories, variant: null, attacks: null };
}

async function refresh() {
    showPlaced();
    const [listing, status] = await Promise.all([askListing(), askStatus()]);
    const shown = status ?? unknownStatus();
    showListing(listing);
    showFacts(shown);
    shown.categories.forEach((department) => showDepartment(department, shown.attacks));
    announce(inWords(listing, shown));
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
