/** Files that the bundle of a program carries as their text; see `shared/bundle.js`. */
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
