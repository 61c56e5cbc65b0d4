import type { Hono } from "hono";
import { etag } from "hono/etag";
import announcementsScript from "../ui/announcements.browser.js";
import documentScript from "../ui/document.browser.js";
import icon from "../ui/icon.svg";
import html from "../ui/index.html";
import latencyScript from "../ui/latency.browser.js";
import listingScript from "../ui/listing.browser.js";
import orderScript from "../ui/order.browser.js";
import script from "../ui/page.browser.js";
import style from "../ui/page.css";

const FILES = {
    "/": { text: html, type: "text/html; charset=utf-8" },
    "/ui/page.css": { text: style, type: "text/css; charset=utf-8" },
    "/ui/page.js": { text: script, type: "text/javascript; charset=utf-8" },
    "/ui/announcements.js": { text: announcementsScript, type: "text/javascript; charset=utf-8" },
    "/ui/document.js": { text: documentScript, type: "text/javascript; charset=utf-8" },
    "/ui/latency.js": { text: latencyScript, type: "text/javascript; charset=utf-8" },
    "/ui/listing.js": { text: listingScript, type: "text/javascript; charset=utf-8" },
    "/ui/order.js": { text: orderScript, type: "text/javascript; charset=utf-8" },
    "/ui/icon.svg": { text: icon, type: "image/svg+xml" },
};

/**
 * Adds the shop's page at `/` and its files below `/ui/`. Browsers revalidate them on each load (`no-cache`): a rollout
 * of the gateway must not leave old and new files mixed.
 */
export function servePage(application: Hono): void {
    for (const [path, { text, type }] of Object.entries(FILES)) {
        application.get(path, etag(), (context) =>
            context.body(text, 200, { "Content-Type": type, "Cache-Control": "no-cache" }),
        );
    }
}
