// A department's latency in the last minute, as a picture and in words, measured by the page's own requests. A sample
// is { at, status, latencyMs }: `at` in milliseconds, the others as in the gateway's /status.

const MINUTE_MS = 60_000;
/** Samples this far apart are not joined: the page was not visible. Longer than a pause and a timed-out request. */
const GAP_MS = 10_000;
/** Ends of the scale. It is logarithmic: 10 ms and 2 s must both be readable. */
const LEAST_MS = 1;
const MOST_MS = 10_000;
const GRID = { 10: "10 ms", 100: "100 ms", 1_000: "1 s" };
/** In pixels. Marks and lines at the edges need a margin, labels of the scale a column. */
const MARGIN = 4;
const LABELS = 50;

/** The samples with another one, without those older than a minute. */
export const withSample = (samples, sample) => [...samples.filter(({ at }) => sample.at - at <= MINUTE_MS), sample];

/**
 * The picture in pixels, the latest sample at the right: `answered` and `failed` are the data of paths, and `grid` has
 * the place and text of each line of the scale. `end` is where the plot ends and the labels begin.
 */
export function pictureOf(samples, { width, height }) {
    const end = Math.max(width - LABELS, 0);
    const now = samples.at(-1)?.at ?? 0;
    const x = ({ at }) => round(MARGIN + (1 - (now - at) / MINUTE_MS) * (end - 2 * MARGIN));
    const y = (ms) => {
        const share = Math.log(Math.min(Math.max(ms, LEAST_MS), MOST_MS) / LEAST_MS) / Math.log(MOST_MS / LEAST_MS);
        return round(height - MARGIN - share * (height - 2 * MARGIN));
    };
    const answered = samples.map((sample, index) => {
        if (sample.status !== "UP") return "";
        const place = `${x(sample)} ${y(sample.latencyMs)}`;
        // A line of no length is drawn as a dot: a sample without neighbors shows, too.
        return isJoined(samples[index - 1], sample) ? `L${place}` : `M${place}h0`;
    });
    const failed = samples
        .filter(({ status }) => status === "DOWN")
        // Upright: at one failure a second, wider marks would touch.
        .map((sample) => `M${x(sample)} ${y(sample.latencyMs)}m0-4v8`);
    const grid = Object.entries(GRID).map(([ms, text]) => ({ y: y(Number(ms)), text }));
    return { answered: answered.join(""), failed: failed.join(""), grid, end };
}

const round = (pixels) => Math.round(pixels * 10) / 10;
const isJoined = (before, { at }) => before?.status === "UP" && at - before.at < GAP_MS;

/** The latency now: "12 ms", "down", "unknown". */
const nowOf = ({ status, latencyMs }) => (status === "UP" ? `${number(latencyMs)} ms` : status.toLowerCase());

/** "between 9 and 2,015 ms in the last minute, 3 of 50 requests failed" */
export function rangeOf(samples) {
    const asked = samples.filter(({ status }) => status !== "UNKNOWN");
    const times = asked.filter(({ status }) => status === "UP").map(({ latencyMs }) => latencyMs);
    const [least, most] = [Math.min(...times), Math.max(...times)];
    const answered = least === most ? `${number(most)} ms` : `between ${number(least)} and ${number(most)} ms`;
    const failures = asked.length - times.length;
    const failed = failures > 0 ? `, ${failures} of ${asked.length} requests failed` : "";
    return `${times.length > 0 ? answered : "no answer"} in the last minute${failed}`;
}

/** "hot-deals: 12 ms now, between 9 and 2,015 ms in the last minute" */
export const sentenceOf = (name, samples) => `${name}: ${nowOf(samples.at(-1))} now, ${rangeOf(samples)}`;

const number = (value) => value.toLocaleString("en");
