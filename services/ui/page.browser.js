// Served without a build step. Everything shown comes from two responses of the gateway: /status, which has each
// department separately, and /products, which is complete, has fallbacks in place of departments, or fails.

import { createAnnouncer } from "/ui/announcements.js";
import { showCalls } from "/ui/graph.js";
import { pictureOf, rangeOf, sentenceOf, withSample } from "/ui/latency.js";
import { describeListing, missingFrom, nameOf } from "/ui/listing.js";
import { followOrders, productRow, showOrdering, showPlaced } from "/ui/order.js";
import { ask, byId, fill, fromTemplate, keepingFocus, write } from "/ui/document.js";

const PAUSE_MS = 1_000;
/** Longer than the gateway's timeout for a backend. */
const TIMEOUT_MS = 8_000;

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

function showListing(listing) {
    const { state, word, detail } = describeListing(listing);
    byId("listing").dataset.state = state;
    write(byId("listing-word"), word);
    write(byId("listing-detail"), detail);
}

function showDepartment({ category, backend, status, latencyMs, reason = "", products }, attacks) {
    const section = byId(category) ?? addDepartment(category);
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
    const own = attacks?.filter(({ workload }) => workload === backend) ?? [];
    fill(section, {
        ".word": word,
        ".latency": latency,
        ".backend": backend && `from ${backend}`,
        ".attack": own.map(withPods).join("\n"),
        ".reason": reason && `Nothing to show: ${reason}`,
    });
    showLatency(section, { at: Date.now(), status, latencyMs });
    const list = section.querySelector("ul");
    list.hidden = status !== "UP";
    const shown = JSON.stringify(products);
    if (list.dataset.shown === shown) return;
    list.dataset.shown = shown;
    keepingFocus(list, section.querySelector("h2"), () => list.replaceChildren(...products.map(productRow)));
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
    minute.setAttribute("aria-label", sentenceOf(nameOf(section.id), known));
}

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

function addDepartment(category) {
    const section = fromTemplate("department");
    section.id = category;
    const title = section.querySelector("h2");
    title.id = `${category}-title`;
    title.textContent = nameOf(category);
    section.setAttribute("aria-labelledby", title.id);
    byId("departments").append(section);
    return section;
}

const newsOf = createAnnouncer();

/** Tells screen readers what has changed. */
function announce(listing, { categories, attacks }, calls) {
    const departments = categories.map(({ category, status }) => ({ name: nameOf(category), status }));
    const shown = { listing: { ...listing, ...describeListing(listing) }, departments, calls };
    const news = newsOf({ ...shown, attacks: attacks?.map(inOneLine) ?? null }, Date.now());
    if (news !== "") write(byId("announcement"), news);
}

async function askListing() {
    try {
        const { ok, status, answer } = await ask("/products", TIMEOUT_MS);
        return { ...answer, ok, status, missing: ok ? missingFrom(answer) : [] };
    } catch {
        return { ok: false, detail: "The gateway does not answer." };
    }
}

async function askStatus() {
    try {
        const { ok, answer } = await ask("/status", TIMEOUT_MS);
        return ok ? answer : undefined;
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
    return { categories, variant: null, attacks: null, calls: [] };
}

async function refresh() {
    showPlaced();
    const [listing, status] = await Promise.all([askListing(), askStatus()]);
    const shown = status ?? unknownStatus();
    showListing(listing);
    showFacts(shown);
    shown.categories.forEach((department) => showDepartment(department, shown.attacks));
    announce(listing, shown, showCalls(shown));
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
