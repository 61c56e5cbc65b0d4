import { Terminal } from "@xterm/headless";
import { element, escape } from "../../chaos/report/markup";

/** What a program printed at a moment, in milliseconds since it began. */
export interface Output {
    atMs: number;
    text: string;
}

export interface Screen {
    columns: number;
    rows: number;
}

/** A line of the terminal as it looked for some time. */
interface Look {
    row: number;
    markup: string;
    fromMs: number;
    /** Undefined: to the end. */
    toMs?: number;
}

const longestPauseMs = 1_500;
/** What is printed within this time is shown at once. */
const frameMs = 100;
/** The last picture stays, then all begins again. */
const holdMs = 6_000;

const cell = { width: 7.25, height: 17 };
const margin = 14;

/** Terminals' first eight colors, black first, in a light and in a dark page. Bright ones are the same. */
const palettes = {
    light: ["#1c2430", "#b3261e", "#1a7f37", "#8a6100", "#0a5fb4", "#8e3fa8", "#0b7285", "#5b6675"],
    dark: ["#e8edf4", "#ff8a80", "#6fd38a", "#e3c26a", "#7ab8ff", "#d7a0f0", "#66d0e0", "#a7b3c2"],
};
const papers = { light: "#ffffff", dark: "#12171e" };

/**
 * What a program printed, as a picture that moves by CSS alone. It shows its last screen if its viewer wants less
 * motion, or takes no animations. Pauses are shortened.
 *
 * @param title what was run: the picture's name for screen readers
 */
export async function animated(output: readonly Output[], screen: Screen, title: string): Promise<string> {
    const { looks, scrolls, endMs } = await looksOf(shortened(output), screen);
    const wholeMs = Math.ceil(endMs) + holdMs;
    const percent = (ms: number) => `${Number(((100 * ms) / wholeMs).toFixed(2))}%`;
    const rules: string[] = [];
    const animations = new Map<string, string>();
    /** The class of what is animated by some keyframes. Many lines appear together. */
    const animation = (keyframes: string): string => {
        const known = animations.get(keyframes);
        if (known !== undefined) return known;
        const name = `a${animations.size}`;
        animations.set(keyframes, name);
        rules.push(`@keyframes ${name}{${keyframes}}.${name}{animation-name:${name}}`);
        return name;
    };
    const lines = looks.map(({ row, markup, fromMs, toMs }) => {
        const hidden = toMs === undefined ? "" : `${percent(toMs)}{opacity:0}`;
        const shown = `0%{opacity:0}${percent(fromMs)}{opacity:1}${hidden}`;
        const kind = [animation(shown), ...(toMs === undefined ? [] : ["gone"])].join(" ");
        return element("text", { class: kind, x: margin, y: margin + (row + 0.75) * cell.height }, [markup]);
    });
    const last = scrolls.at(-1)?.row ?? 0;
    const moved = (row: number) => `transform:translateY(${-row * cell.height}px)`;
    const scroll = scrolls.map(({ atMs, row }) => `${percent(atMs)}{${moved(row)}}`).join("");
    const [width, height] = [2 * margin + screen.columns * cell.width, 2 * margin + screen.rows * cell.height];
    const view = { x: 0, y: margin, width, height: screen.rows * cell.height };
    return element(
        "svg",
        {
            xmlns: "http://www.w3.org/2000/svg",
            "xml:space": "preserve",
            role: "img",
            viewBox: `0 0 ${width} ${height}`,
        },
        [
            `\n${element("title", {}, [escape(title)])}\n`,
            element("style", {}, [
                styles(wholeMs, [...rules, `.all{${moved(last)}}@keyframes all{0%{${moved(0)}}${scroll}}`]),
            ]),
            `\n${element("rect", { class: "paper", width, height, rx: 6 })}\n`,
            element("clipPath", { id: "screen" }, [element("rect", view)]),
            element("g", { "clip-path": "url(#screen)" }, [
                element("g", { class: "all" }, ["\n", lines.join("\n"), "\n"]),
            ]),
            "\n",
        ],
    ).concat("\n");
}

function styles(wholeMs: number, rules: readonly string[]): string {
    const colors = (theme: keyof typeof palettes) => {
        const [ink, , , , , , , gray] = palettes[theme];
        const ofCells = palettes[theme].map((color, index) => `.c${index}{fill:${color}}`).join("");
        return `text{fill:${ink}}${ofCells}.paper{fill:${papers[theme]};stroke:${gray}}`;
    };
    return [
        'text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}',
        colors("light"),
        `@media (prefers-color-scheme:dark){${colors("dark")}}`,
        ".b{font-weight:700}.d{opacity:.7}.gone{opacity:0}",
        ...rules,
        `text,.all{animation:${wholeMs}ms step-end infinite}`,
        ".all{animation-name:all}",
        "@media (prefers-reduced-motion:reduce),print{text,.all{animation-name:none!important}}",
    ].join("\n");
}

function shortened(output: readonly Output[]): Output[] {
    let [before, atMs] = [0, 0];
    return output.map((each) => {
        atMs += Math.min(each.atMs - before, longestPauseMs);
        before = each.atMs;
        return { ...each, atMs };
    });
}

async function looksOf(output: readonly Output[], { columns, rows }: Screen) {
    const terminal = new Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
    const looks: Look[] = [];
    const current = new Map<number, Look>();
    const scrolls: { atMs: number; row: number }[] = [];
    const look = (atMs: number) => {
        const { active } = terminal.buffer;
        if (active.baseY !== (scrolls.at(-1)?.row ?? 0)) scrolls.push({ atMs, row: active.baseY });
        // What has left the screen changes no more.
        for (let row = Math.max(0, active.baseY - rows); row < active.length; row++) {
            const markup = markupOf(terminal, row);
            const before = current.get(row);
            if (markup === (before?.markup ?? "")) continue;
            if (before !== undefined) before.toMs = atMs;
            const next = { row, markup, fromMs: atMs };
            current.set(row, next);
            if (markup !== "") looks.push(next);
        }
    };
    let [endMs, lookedMs] = [0, -Infinity];
    for (const [index, { atMs, text }] of output.entries()) {
        await new Promise<void>((resolve) => terminal.write(text, resolve));
        endMs = atMs;
        const nextMs = output[index + 1]?.atMs ?? Infinity;
        if (nextMs - lookedMs < frameMs) continue;
        look(atMs);
        lookedMs = atMs;
    }
    terminal.dispose();
    return { looks, scrolls, endMs };
}

/** Bright black is gray, as white is here. */
const colorOf = (index: number) => (index === 8 ? 7 : index % 8);

/** A line's text in SVG, with its colors. */
function markupOf(terminal: Terminal, row: number): string {
    const line = terminal.buffer.active.getLine(row);
    const runs: { kind: string; text: string }[] = [];
    const used = line?.translateToString(true).length ?? 0;
    for (let column = 0; column < used; column++) {
        const at = line!.getCell(column)!;
        const kind = [
            at.isFgPalette() && at.getFgColor() < 16 ? `c${colorOf(at.getFgColor())}` : "",
            at.isBold() ? "b" : "",
            at.isDim() ? "d" : "",
        ]
            .filter(Boolean)
            .join(" ");
        const text = at.getWidth() === 0 ? "" : at.getChars() || " ";
        const last = runs.at(-1);
        if (last?.kind === kind) last.text += text;
        else runs.push({ kind, text });
    }
    return runs
        .map(({ kind, text }) => (kind === "" ? escape(text) : element("tspan", { class: kind }, [escape(text)])))
        .join("");
}
