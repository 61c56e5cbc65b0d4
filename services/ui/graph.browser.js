// Draws who calls whom, as a picture and as a table. The picture is for the eye only: the table says the same.

import { byId, write } from "/ui/document.js";
import {
    callsOf,
    edgesOf,
    failedText,
    isDepartment,
    latencyText,
    PLACES,
    rateText,
    sentenceOf,
    withReading,
} from "/ui/calls.js";

/** In pixels. Below the width, the gateway is at the top instead of at the left. */
const WIDE = 640;
const BOX = { width: 148, height: 44 };
const GAP = { wide: 26, tall: 84 };

let readings = {};
let variant;
/** What attacks do, by workload, when that was last known. */
let attacked = new Map();

/** @returns what has changed for the ear, besides the departments: they are announced with the listing */
export function showCalls(status) {
    readings = withReading(readings, status.calls ?? []);
    variant = status.variant ?? variant;
    const all = edgesOf(variant).map((edge) => callsOf(readings, edge));
    write(byId("calls-word"), sentenceOf(all));
    if (status.attacks) attacked = effectsOf(status.attacks);
    const isKnown = Boolean(status.attacks);
    draw(all, isKnown);
    fillTable(all, isKnown);
    const others = all.filter(({ to }) => !isDepartment(to));
    return others.every(({ state }) => state === "unknown") ? "" : sentenceOf(others);
}

/** What attacks do, by workload: there may be several. */
function effectsOf(attacks) {
    const effects = new Map();
    for (const { workload, effect } of attacks) effects.set(workload, [...(effects.get(workload) ?? []), effect]);
    return effects;
}

function draw(all, isKnown) {
    const svg = byId("graph");
    const width = svg.clientWidth;
    const names = [...new Set(all.flatMap(({ from, to }) => [from, to]))];
    const { boxes, height } = boxesOf(names, width);
    svg.setAttribute("height", height);
    svg.replaceChildren(
        ...all.map((call) => line(call, boxes)),
        ...names.map((name) => box(name, boxes[name], attacked.has(name) && (isKnown ? "attacked" : "attacked?"))),
        // Above all lines: a line through a number would hide it.
        ...all.map((call) => label(call, boxes)),
    );
}

/** The middle and the size of each box. */
function boxesOf(names, width) {
    const isWide = width >= WIDE;
    const [far, most] = [0, 1].map((index) => Math.max(...names.map((name) => Number(PLACES[name][index]) || 0)));
    const box = { width: isWide ? BOX.width : Math.min(BOX.width, width / (most + 1) - 6), height: BOX.height };
    const length = isWide ? width : far * (BOX.height + GAP.tall) + BOX.height;
    const breadth = isWide ? most * (BOX.height + GAP.wide) + BOX.height : width;
    const [along, across] = isWide ? [box.width, box.height] : [box.height, box.width];
    const boxes = names.map((name) => {
        const [distance, row] = PLACES[name];
        const a = along / 2 + (distance / far) * (length - along);
        const b = across / 2 + ((row === "middle" ? most / 2 : row) / most) * (breadth - across);
        return [name, { ...box, isWide, ...(isWide ? { x: a, y: b } : { x: b, y: a }) }];
    });
    return { boxes: Object.fromEntries(boxes), height: isWide ? breadth : length };
}

/** Where a line begins and ends: at the sides of the boxes that face each other. */
function endsOf({ from, to }, boxes) {
    const [a, b] = [boxes[from], boxes[to]];
    const side = (box, other) =>
        box.isWide
            ? { x: box.x + (Math.sign(other.x - box.x) * box.width) / 2, y: box.y }
            : { x: box.x, y: box.y + (Math.sign(other.y - box.y) * box.height) / 2 };
    return [side(a, b), side(b, a)];
}

function line(call, boxes) {
    const [start, end] = endsOf(call, boxes);
    const angle = Math.atan2(end.y - start.y, end.x - start.x);
    const wing = (turn) => `L${at(end.x - 9 * Math.cos(angle + turn))} ${at(end.y - 9 * Math.sin(angle + turn))}`;
    return element("g", { class: call.state }, [
        element("path", { class: "edge", d: `M${at(start.x)} ${at(start.y)}L${at(end.x)} ${at(end.y)}` }),
        element("path", { class: "tip", d: `M${at(end.x)} ${at(end.y)}${wing(0.4)}${wing(-0.4)}Z` }),
    ]);
}

/** Near the end where lines are furthest apart. */
function label(call, boxes) {
    const [start, end] = endsOf(call, boxes);
    const spread = boxes[call.from].isWide ? 0.62 : 0.76;
    const isInTheMiddle = ["orders", "inventory"].includes(call.from);
    const share = call.from === "gateway" ? spread : isInTheMiddle ? 0.45 : 1 - spread;
    const [x, y] = [start.x + share * (end.x - start.x), start.y + share * (end.y - start.y)];
    const texts = {
        up: () => [rateText(call), latencyText(call)],
        failing: () => [`✕ ${failedText(call)}`, rateText(call)],
        idle: () => ["no calls"],
        unknown: () => ["?"],
    }[call.state]();
    return element(
        "g",
        { class: `label ${call.state}` },
        texts.map((text, index) => textAt(text, x, y + 14 * (index - (texts.length - 1) / 2))),
    );
}

function box(name, { x, y, width, height }, mark) {
    const lines = width < 110 ? name.split(/(?<=-)/) : [name];
    const shown = mark ? [...lines, mark] : lines;
    const first = y - (14 * (shown.length - 1)) / 2;
    return element("g", { class: mark ? "box attacked" : "box" }, [
        element("rect", { x: at(x - width / 2), y: at(y - height / 2), width: at(width), height, rx: 6 }),
        ...shown.map((text, index) => textAt(text, x, first + 14 * index)),
    ]);
}

const at = (pixels) => Math.round(pixels * 10) / 10;
const textAt = (text, x, y) => element("text", { x: at(x), y: at(y) }, [text]);

function element(name, attributes, children = []) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/** Rows stay: a screen reader keeps its place. */
function fillTable(all, isKnown) {
    const body = byId("calls-table");
    while (body.rows.length > all.length) body.deleteRow(-1);
    all.forEach((call, index) => {
        const row = body.rows[index] ?? body.appendChild(byId("call").content.cloneNode(true).firstElementChild);
        row.dataset.state = call.state;
        const texts = [nameOf(call, isKnown), rateText(call), latencyText(call), failedText(call)];
        texts.forEach((text, column) => write(row.cells[column], text));
    });
}

const nameOf = ({ from, to }, isKnown) => [from, to].map((name) => withAttack(name, isKnown)).join(" to ");

function withAttack(name, isKnown) {
    if (!attacked.has(name)) return name;
    return `${name} (${[...attacked.get(name), ...(isKnown ? [] : ["not known now"])].join(", ")})`;
}
