import { describe, expect, it } from "vitest";
import {
    credentialIn,
    credentialInArguments,
    credentialsWithin,
    namesCredential,
} from "../../../../chaos/checks/credentials";

describe("a name of a credential", () => {
    it.each([
        ...["token", "access_token", "accessToken", "X-Auth-Token", "private_token", "X-Amz-Security-Token"],
        ...["api_key", "apikey", "X-Api-Key", "subscription.apikey", "AWS_SECRET_ACCESS_KEY", "accessKey"],
        ...["password", "db_password", "PGPASSWORD", "passwd", "passphrase", "pwd", "newPassword"],
        ...["secret", "client_secret", "sig", "signature", "X-Goog-Signature", "jwt", "credentials"],
    ])("is %s", (name) => expect(namesCredential(name)).toBe(true));

    it.each([
        ...["page_token", "nextToken", "continuationToken", "tokens", "tokenId", "tokenizer", "csrf"],
        ...["key", "keys", "primaryKey", "code", "sign", "design", "signatures", "secretName", "passwordPolicy"],
        ...["password-file", "no-password", "ask-password", "compass", "pass", "author", "id", "q"],
    ])("is not %s", (name) => expect(namesCredential(name)).toBe(false));
});

describe("a credential in a text", () => {
    it.each([
        ["postgres://shop:s3cret@db:5432/shop", "a URL with a password"],
        ["see http://:pw@cache", "a URL with a password"],
        ["Authorization: Basic dXNlcjpwYXNz", "an authorization"],
        ['{"authorization": "abc"}', "an authorization"],
        ["Bearer s3cr3t-t0ken", "an authorization"],
        ["a=1&password=x", "a value of password"],
        ['{"user":"a","apiKey":"b"}', "a value of apiKey"],
        ["token: abc", "a value of token"],
    ])("is found in %s", (text, what) => expect(credentialIn(text)).toBe(what));

    it.each([
        "https://shop.example:8080/orders?of=a@b.example",
        "http://$USER:$PASSWORD@db",
        "Authorization: Bearer $TOKEN",
        "authorization: ${AUTHORIZATION}",
        "the bearer tokens of 2026",
        "password=",
        'password="$PASSWORD"',
        "token=$(cat /run/token)",
        "secret=/run/secrets/shop",
        "a token, a password and a signature",
        "Password: how to choose one",
        '{"subject": "Secret: a party"}',
        '{"clientToken": "7d3c"}',
        "page_token=abc",
        "key=orders",
    ])("is not %s", (text) => expect(credentialIn(text)).toBeUndefined());
});

describe("a credential in arguments", () => {
    it.each<[string[], string]>([
        [["./check", "--password", "x"], "a value of password"],
        [["./check", "--api-key=abc"], "a value of api-key"],
        [["./check", "--client-secret", "abc"], "a value of client-secret"],
        [["curl", "-u", "ada:lovelace", "http://shop"], "a user with a password"],
        [["curl", "-uada:lovelace1", "http://shop"], "a user with a password"],
        [["curl", "-H", "Authorization: Bearer abc"], "an authorization"],
        [["sh", "-c", "TOKEN=abc ./check"], "a value of TOKEN"],
        [["psql", "postgresql://a:b@db/shop"], "a URL with a password"],
    ])("is found in %j", (args, what) => expect(credentialInArguments(args)).toBe(what));

    it.each([
        [["./check", "--password-file", "/run/password"]],
        [["./check", "--token", "$TOKEN"]],
        [["./check", "--token"]],
        [["./check", "--no-password", "orders"]],
        [["docker", "run", "-u", "1000:1000", "image:1"]],
        [["sh", "-c", 'curl -u "$USER:$PASSWORD" http://shop']],
        [["sh", "-c", "curl -H \"Authorization: Bearer $TOKEN\" 'http://shop/?q=a:b'"]],
        [["kubectl", "get", "secret", "orders"]],
        [["gcloud", "secrets", "versions", "access", "latest", "--secret", "db"]],
        [["gcloud", "secrets", "versions", "access", "latest", "--secret=db"]],
        [["helm", "template", "--set", "existingSecret=db"]],
        [["cosign", "verify", "--signature", "file.sig"]],
        [["docker", "run", "--user", "node:node", "image:1"]],
    ])("is not in %j", (args) => expect(credentialInArguments(args)).toBeUndefined());
});

it("credentials are found at any depth, by their names or forms", () => {
    const body = { user: "a", login: { password: "b" }, keys: [{ apiKey: 1 }], note: ["Bearer abc123"], token: "" };
    expect(credentialsWithin(body).map(({ path }) => path.join("."))).toEqual([
        "login.password",
        "keys.0.apiKey",
        "note.0",
    ]);
    expect(credentialsWithin({ password: null, token: true, secret: { name: "a" } })).toEqual([]);
});
