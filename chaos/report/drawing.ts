import { element, escape } from "./markup";

/** A page of 600 pixels shows the picture at nine tenths of this width: its smallest type then has 11.5 pixels. */
export const width = 640;
export const margin = { left: 64, right: 20 };
/** In small type. Digits and capitals in DejaVu Sans, a wide font, have this width. */
const characterWidth = 7.2;

/** A part of the picture with its own scale. Moments are milliseconds since the epoch. */
interface Span {
    begin: number;
    end: number;
    left: number;
    right: number;
    /** The horizontal position of a moment. */
    x: (at: number) => number;
}

/** The horizontal axis, which is that of the run. */
export interface TimeAxis extends Span {
    /** The moment that times are relative to. */
    zero: number;
    /** Seconds before the run, and up to hours after it. Absent if nothing is known of that time. */
    before?: Span;
    after?: Span;
}

export function spanOf(begin: number, end: number, left: number, right: number): Span {
    return { begin, end, left, right, x: (at) => left + ((at - begin) / Math.max(1, end - begin)) * (right - left) };
}

/** Readable on either background. */
export const colors = {
    light: "--ink: #1c2430; --faint: #6a7586; --line: #d8dee7; --paper: #ffffff;",
    dark: "--ink: #e8edf4; --faint: #9aa7b8; --line: #333d4a; --paper: #12171e;",
};

export function rect(kind: string, x: number, y: number, w: number, h: number): string {
    return element("rect", { class: kind, x: round(x), y: round(y), width: round(w), height: round(h) });
}

export function line(kind: string, x1: number, y1: number, x2: number, y2: number, title?: string): string {
    const attributes = { class: kind, x1: round(x1), x2: round(x2), y1: round(y1), y2: round(y2) };
    return element("line", attributes, title === undefined ? [] : [tooltip(title)]);
}

/** The text that is shown while a pointer rests on the element that has it as a child. */
export const tooltip = (text: string) => element("title", {}, [escape(text)]);

export function label(
    x: number,
    y: number,
    text: string,
    kind = "",
    anchor: "start" | "middle" | "end" = "start",
): string {
    return element("text", { class: kind, x: round(x), y: round(y), "text-anchor": anchor }, [escape(text)]);
}

/** About the width of a text in small type. */
export const widthOf = (text: string) => text.length * characterWidth;
/** Cuts the middle out of a text that is wider than `space` in small type. */
export function fitted(text: string, space: number): string {
    const most = Math.max(2, Math.floor(space / characterWidth));
    return text.length > most ? `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}` : text;
}

/** A time relative to the attack: `1.4 s`. */
export const relative = (at: number, zero: number) => `${((at - zero) / 1_000).toFixed(1)} s`;
/** Breaks a text into at most `most` lines of the width `space` in small type. The last line is cut. */
export function lines(text: string, space: number, most: number): string[] {
    const words = text.split(/\s+/);
    const broken = [""];
    for (const word of words) {
        const longer = `${broken.at(-1)!} ${word}`.trim();
        if (widthOf(longer) <= space || broken.length === most) broken[broken.length - 1] = longer;
        else broken.push(word);
    }
    return broken.map((line) => fitted(line, space));
}

export const round = (value: number) => Math.round(value * 10) / 10;
