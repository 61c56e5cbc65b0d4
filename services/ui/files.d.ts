/** Files that a program's bundle includes as text (esbuild's `text` loader). */
declare module "*.html" {
    const text: string;
    export default text;
}
declare module "*.css" {
    const text: string;
    export default text;
}
declare module "*.svg" {
    const text: string;
    export default text;
}
declare module "*.browser.js" {
    const text: string;
    export default text;
}
