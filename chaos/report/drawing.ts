import { element, escape } from "./markup";

export const width = 960;
export const margin = { left: 184, right: 24 };
/** Approximate width of a character in small type. */
export const characterWidth = 6.2;

/** The horizontal axis. Moments are milliseconds since the epoch. */
export interface TimeAxis {
    begin: number;
    end: number;
    /** The moment that times are told from. */
    zero: number;
    /** The horizontal position of a moment. */
    x: (at: number) => number;
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

/** Inside an element: what a pointer shows that rests on it. */
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

/** Beside a row of the picture. */
export const rowName = (y: number, name: string, kind = "") => label(margin.left - 10, y + 4, name, kind, "end");

/** A time relative to the attack: `1.4 s`. */
export const relative = (at: number, zero: number) => `${((at - zero) / 1_000).toFixed(1)} s`;
/** A text without its middle, if it is too long. */
export const shortened = (text: string, most: number) =>
    text.length > most ? `${text.slice(0, most / 2)}…${text.slice(1 - most / 2)}` : text;
export const round = (value: number) => Math.round(value * 10) / 10;
