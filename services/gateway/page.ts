import type { Hono } from "hono";
import { etag } from "hono/etag";
import { getMimeType } from "hono/utils/mime";
import announcementsScript from "../ui/announcements.browser.js";
import callsScript from "../ui/calls.browser.js";
import documentScript from "../ui/document.browser.js";
import graphScript from "../ui/graph.browser.js";
import icon from "../ui/icon.svg";
import html from "../ui/index.html";
import latencyScript from "../ui/latency.browser.js";
import listingScript from "../ui/listing.browser.js";
import orderScript from "../ui/order.browser.js";
import script from "../ui/page.browser.js";
import style from "../ui/page.css";

const files = {
    "/": html,
    "/ui/page.css": style,
    "/ui/page.js": script,
    "/ui/announcements.js": announcementsScript,
    "/ui/calls.js": callsScript,
    "/ui/document.js": documentScript,
    "/ui/graph.js": graphScript,
    "/ui/latency.js": latencyScript,
    "/ui/listing.js": listingScript,
    "/ui/order.js": orderScript,
    "/ui/icon.svg": icon,
};

/**
 * Adds the shop's page at `/` and its files below `/ui/`. Browsers revalidate them on each load (`no-cache`): a rollout
 * of the gateway must not leave old and new files mixed.
 */
export function servePage(application: Hono): void {
    for (const [path, text] of Object.entries(files)) {
        const type = getMimeType(path === "/" ? "index.html" : path)!;
        application.get(path, etag(), (context) =>
            context.body(text, 200, { "Content-Type": type, "Cache-Control": "no-cache" }),
        );
    }
}
