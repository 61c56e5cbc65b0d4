export const annotations = {
    /** On a namespace: the name of the stack that owns it. */
    stack: "chaos-shop/stack",
    /** On a namespace: the identity of that stack. Another backend may have a stack of the same name. */
    identity: "chaos-shop/identity",
    /** On a namespace: how its objects were installed, if not by the program. */
    install: "chaos-shop/install",
} as const;
