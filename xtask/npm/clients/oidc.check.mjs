// node oidc.check.mjs
//
// Checks oidc.mjs: that each kind of token is what it says, in one way and no other, as `jose` sees it; that exchange and
// introspection do what their RFCs say; that the switches switch. Prints {checked: […]}.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as jose from "jose";
import { main } from "./common.mjs";

const AUDIENCE = "http://127.0.0.1:1/mcp";
const SCOPES = ["gatewright:read", "design:read", "specimens:*", "specimens:look"];
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

/** Why jose refuses a token of each kind, and the claim or header field that it names. */
const REFUSED = {
  wrong_audience: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "aud"],
  wrong_issuer: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "iss"],
  expired: ["ERR_JWT_EXPIRED", "exp"],
  not_yet_valid: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "nbf"],
  no_expiry: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "exp"],
  no_subject: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "sub"],
  no_audience: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "aud"],
  plain_jwt_type: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "typ"],
  id_token_type: ["ERR_JWT_CLAIM_VALIDATION_FAILED", "typ"],
  unknown_kid: ["ERR_JWKS_NO_MATCHING_KEY"],
  wrong_key: ["ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
  embedded_key: ["ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
  tampered: ["ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
  alg_none: ["ERR_JOSE_ALG_NOT_ALLOWED"],
  hs256_with_public_key: ["ERR_JOSE_ALG_NOT_ALLOWED"],
};
/** Kinds that only look wrong: jose accepts them. */
const ACCEPTED = ["good", "audience_array", "no_scope"];

const checked = [];
async function check(name, work) {
  try {
    await work();
  } catch (e) {
    throw new Error(`${name}: ${e.message}`, { cause: e });
  }
  checked.push(name);
}

/** Starts the server; `stop` ends it as a test would, and waits. */
async function start(algorithm) {
  const program = fileURLToPath(new URL("./oidc.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, algorithm], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(child, "exit");
  const early = ended.then(([code]) => Promise.reject(new Error(`oidc.mjs ended with ${code} before it was ready`)));
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), early]);
  early.catch(() => {});
  const server = JSON.parse(line);
  const json = async (answer) => ({ status: answer.status, ...(await answer.json()) });
  const control = async (path, body) => {
    const asked = body ? { method: "POST", body: JSON.stringify(body) } : {};
    return json(await fetch(server.control + path, asked));
  };
  const post = async (url, form, id = server.gateway_id, secret = server.gateway_secret) => {
    const headers = { authorization: `Basic ${btoa(`${id}:${secret}`)}` };
    return json(await fetch(url, { method: "POST", headers, body: new URLSearchParams(form) }));
  };
  const stop = async () => {
    child.stdin.end();
    assert.deepEqual(await ended, [0, null]);
  };
  return { ...server, control, post, stop };
}

/** What a resource server does with a token. */
async function verify(server, token, keys) {
  return jose.jwtVerify(token, keys ?? jose.createLocalJWKSet(await (await fetch(server.jwks_uri)).json()), {
    issuer: server.issuer,
    audience: AUDIENCE,
    typ: "at+jwt",
    algorithms: ["RS256", "ES256", "EdDSA"],
    requiredClaims: ["exp", "sub"],
  });
}

async function tokens(server) {
  const mint = async (kind, more = {}) => {
    const minted = await server.control("/mint", {
      kind,
      audience: AUDIENCE,
      subject: "alice",
      scopes: SCOPES,
      ...more,
    });
    assert.equal(minted.status, 200, minted.error);
    return minted.token;
  };
  const of = (kind) => `${server.algorithm}: ${kind}`;
  for (const kind of ACCEPTED) {
    await check(of(kind), async () => {
      const { payload, protectedHeader } = await verify(server, await mint(kind));
      assert.equal(protectedHeader.alg, server.algorithm);
      assert.equal(payload.sub, "alice");
      assert.equal(payload.client_id, server.client_id);
      assert.equal(payload.scope, kind === "no_scope" ? undefined : SCOPES.join(" "));
      assert.equal(Array.isArray(payload.aud), kind === "audience_array");
    });
  }
  for (const [kind, [code, claim]] of Object.entries(REFUSED)) {
    await check(of(kind), async () => {
      const token = await mint(kind);
      await assert.rejects(verify(server, token), (e) => {
        assert.deepEqual([e.code, e.claim], [code, claim], e.message);
        return true;
      });
    });
  }
  await check(of("hs256_with_public_key deceives who lets it"), async () => {
    const token = await mint("hs256_with_public_key");
    const { keys } = await (await fetch(server.jwks_uri)).json();
    const jwk = keys.find((key) => key.kid === jose.decodeProtectedHeader(token).kid);
    const text = await jose.exportSPKI(await jose.importJWK(jwk, jwk.alg, { extractable: true }));
    await jose.jwtVerify(token, new TextEncoder().encode(text), { algorithms: ["HS256"] });
  });
  await check(of("embedded_key deceives who lets it"), async () => {
    await jose.jwtVerify(await mint("embedded_key"), jose.EmbeddedJWK);
  });
  await check(of("id_token_type has no scope"), async () => {
    assert.deepEqual(
      [jose.decodeJwt(await mint("id_token_type")).scope, jose.decodeJwt(await mint("id_token_type")).azp],
      [undefined, "agent"],
    );
  });
  await check(of("claims"), async () => {
    const { payload } = await verify(server, await mint("good", { claims: { tenant: "harbor" } }));
    assert.equal(payload.tenant, "harbor");
  });
  await check(of("without a subject the client is it"), async () => {
    const { payload } = await verify(server, await mint("good", { subject: undefined }));
    assert.equal(payload.sub, server.client_id);
  });
  await check(of("scopes that the server does not have are left out"), async () => {
    const { payload } = await verify(server, await mint("good", { scopes: ["design:read", "payroll:write"] }));
    assert.equal(payload.scope, "design:read");
  });
  return mint;
}

async function endpoints(server, mint) {
  const exchange = (form) =>
    server.post(server.token_endpoint, { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN, ...form });
  const target = "http://127.0.0.1:2/mcp";
  await check("exchange: same subject, other audience, the gateway as actor", async () => {
    const answer = await exchange({ subject_token: await mint("good"), resource: target, scope: "design:read" });
    assert.equal(answer.issued_token_type, ACCESS_TOKEN);
    const { aud, sub, act, scope } = jose.decodeJwt(answer.access_token);
    assert.deepEqual(
      { aud, sub, act, scope },
      { aud: target, sub: "alice", act: { sub: "gateway" }, scope: "design:read" },
    );
  });
  await check("exchange: the actor before is inside", async () => {
    const first = await exchange({ subject_token: await mint("good"), audience: target });
    const { access_token } = await exchange({ subject_token: first.access_token, audience: AUDIENCE });
    assert.deepEqual(jose.decodeJwt(access_token).act, { sub: "gateway", act: { sub: "gateway" } });
  });
  await check("exchange: an opaque token too", async () => {
    const { access_token } = await exchange({ subject_token: await mint("opaque"), audience: target });
    assert.equal(jose.decodeJwt(access_token).sub, "alice");
  });
  await check("exchange: no more scopes than before", async () => {
    const answer = await exchange({ subject_token: await mint("good"), audience: target, scope: "design:apply" });
    assert.deepEqual([answer.status, answer.error], [400, "invalid_scope"]);
  });
  await check("exchange: no bad subject token", async () => {
    for (const kind of ["expired", "tampered", "wrong_issuer", "id_token_type"]) {
      const answer = await exchange({ subject_token: await mint(kind), audience: target });
      assert.deepEqual([kind, answer.status, answer.error], [kind, 400, "invalid_request"]);
    }
  });
  await check("exchange: only the gateway may", async () => {
    const form = {
      grant_type: EXCHANGE,
      subject_token_type: ACCESS_TOKEN,
      subject_token: await mint("good"),
      audience: target,
    };
    const answer = await server.post(server.token_endpoint, form, server.client_id, server.client_secret);
    assert.equal(answer.status, 400);
  });
  await check("introspection: an opaque token until it is revoked", async () => {
    const token = await mint("opaque");
    assert.throws(() => jose.decodeJwt(token));
    const seen = await server.post(server.introspection_endpoint, { token });
    assert.deepEqual(
      [seen.active, seen.sub, seen.aud, seen.scope, seen.iss],
      [true, "alice", AUDIENCE, SCOPES.join(" "), server.issuer],
    );
    const headers = { authorization: `Basic ${btoa(`${server.client_id}:${server.client_secret}`)}` };
    const revoked = await fetch(`${server.issuer}/token/revocation`, {
      method: "POST",
      headers,
      body: new URLSearchParams({ token }),
    });
    assert.equal(revoked.status, 200);
    assert.equal((await server.post(server.introspection_endpoint, { token })).active, false);
    assert.equal((await server.post(server.introspection_endpoint, { token: "unknown" })).active, false);
  });
  await check("both forms of discovery", async () => {
    for (const name of ["oauth-authorization-server", "openid-configuration"]) {
      const { issuer, jwks_uri, token_endpoint, introspection_endpoint, grant_types_supported, scopes_supported } =
        await (await fetch(`${server.issuer}/.well-known/${name}`)).json();
      const { issuer: i, jwks_uri: j, token_endpoint: t, introspection_endpoint: n } = server;
      assert.deepEqual(
        { issuer, jwks_uri, token_endpoint, introspection_endpoint },
        { issuer: i, jwks_uri: j, token_endpoint: t, introspection_endpoint: n },
      );
      assert.ok(grant_types_supported.includes(EXCHANGE));
      assert.deepEqual(scopes_supported, ["openid", ...server.scopes]);
    }
  });
}

async function switches(server, mint) {
  const jwks = (options) => fetch(server.jwks_uri, { redirect: "manual", ...options });
  const mode = (of, mode) => server.control(`/${of}`, { mode });
  const count = async (path) => (await server.control("/requests"))[path] ?? 0;
  await check("requests are counted, those of /mint are not", async () => {
    const before = [await count("/jwks"), await count("/token")];
    await jwks();
    await mint("good");
    assert.deepEqual([await count("/jwks"), await count("/token")], [before[0] + 1, before[1]]);
  });
  await check("rotate: new keys only", async () => {
    const old = await mint("good");
    const { kids } = await server.control("/rotate", {});
    const { keys } = await (await jwks()).json();
    assert.deepEqual(keys.map((key) => key.kid).sort(), Object.values(kids.after).sort());
    assert.ok(Object.entries(kids.before).every(([alg, kid]) => kid !== kids.after[alg]));
    await assert.rejects(verify(server, old), { code: "ERR_JWKS_NO_MATCHING_KEY" });
    await verify(server, await mint("good"));
    // The new keys sign the bad tokens as well: wrong in one thing still.
    await assert.rejects(verify(server, await mint("wrong_audience")), { claim: "aud" });
  });
  await check("rotate: opaque tokens live on", async () => {
    const token = await mint("opaque");
    await server.control("/rotate", {});
    assert.equal((await server.post(server.introspection_endpoint, { token })).active, true);
  });
  await check("jwks: down", async () => {
    await mode("jwks", "down");
    assert.equal((await jwks()).status, 503);
  });
  await check("jwks: redirect, to where the keys are", async () => {
    await mode("jwks", "redirect");
    const answer = await jwks();
    assert.deepEqual([answer.status, answer.headers.get("location")], [302, `${server.issuer}/elsewhere`]);
    const followed = jose.createLocalJWKSet(await (await jwks({ redirect: "follow" })).json());
    await verify(server, await mint("good"), followed);
  });
  await check("jwks: huge, and valid", async () => {
    await mode("jwks", "huge");
    const text = await (await jwks()).text();
    assert.ok(text.length > 64 << 20);
    await verify(server, await mint("good"), jose.createLocalJWKSet(JSON.parse(text)));
  });
  await check("jwks: slow, until it is not", async () => {
    await mode("jwks", "slow");
    const before = await count("/jwks");
    let answered = false;
    const answer = jwks().then((given) => ((answered = true), given));
    while ((await count("/jwks")) === before);
    assert.equal(answered, false);
    await mode("jwks", "ok");
    assert.equal((await answer).status, 200);
  });
  await check("metadata: down, other_issuer", async () => {
    const ask = () => fetch(`${server.issuer}/.well-known/oauth-authorization-server`);
    await mode("metadata", "down");
    assert.equal((await ask()).status, 503);
    await mode("metadata", "other_issuer");
    const { issuer, jwks_uri } = await (await ask()).json();
    assert.deepEqual({ issuer, jwks_uri }, { issuer: "https://another.example", jwks_uri: server.jwks_uri });
    await mode("metadata", "ok");
  });
  await check("what is not known is refused", async () => {
    assert.equal((await mode("jwks", "sideways")).status, 400);
    assert.equal((await server.control("/mint", { kind: "imaginary", audience: AUDIENCE })).status, 400);
    assert.equal((await server.control("/mint", { kind: "good", audience: "not a URL" })).status, 400);
  });
}

await main(async () => {
  for (const algorithm of ["RS256", "ES256", "EdDSA"]) {
    const server = await start(algorithm);
    const mint = await tokens(server);
    if (algorithm === "RS256") {
      await endpoints(server, mint);
      await switches(server, mint);
    }
    await check(`${algorithm}: ends with its standard input`, server.stop);
  }
  return { checked };
});
