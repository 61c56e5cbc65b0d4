/** Files that a program's bundle includes as text (esbuild's `text` loader). */
declare module "*.html" {
    const text: string;
    export default text;
}
declare module "*.css" {
    export { default } from "*.html";
}
declare module "*.svg" {
    export { default } from "*.html";
}
declare module "*.browser.js" {
    export { default } from "*.html";
}
