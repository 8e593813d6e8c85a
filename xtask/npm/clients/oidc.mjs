// node oidc.mjs [ALG]
//
// An authorization server for tests, on loopback: `oidc-provider` itself, and a control port that mints what no real server
// would issue. Access tokens are at+jwt (RFC 9068) signed with ALG (RS256, ES256 or EdDSA; RS256 where it is not said) for
// the audience that `resource` names (RFC 8707). It has client_credentials, token exchange with `act` (RFC 8693),
// introspection and revocation of opaque tokens (RFC 7662, 7009) and both forms of discovery (RFC 8414, OpenID Connect).
//
// Prints one line when it is ready and runs until its standard input closes:
//   {issuer, control, algorithm, scopes, client_id, client_secret, gateway_id, gateway_secret, jwks_uri, token_endpoint,
//    introspection_endpoint}
// The client gets tokens by client_credentials; the gateway introspects and exchanges them.
//
// The control port takes and gives JSON:
//   POST /mint {kind, audience, subject?, scopes?, algorithm?, claims?} gives {token, header, claims}; kinds are below.
//     subject: whom the token is about (else the client); claims: what else is in it, or instead.
//   POST /rotate: new keys, and none of the old in the JWKS. Gives {kids: {before, after}}.
//   GET /requests: how often each path of the issuer was asked for: {"/jwks": 1, …}. What /mint asks is not counted.
//   POST /jwks {mode}: ok; down (503); huge (64 MiB before the keys); redirect (to /elsewhere, which has the keys);
//     slow (no answer until the mode is another).
//   POST /metadata {mode}: ok; down (503); other_issuer (the document names another issuer than the one asked).
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import * as jose from "jose";

// Standard output is for the one line; the provider logs through the console.
for (const level of ["debug", "info", "log", "warn"]) console[level] = console.error;
const { Provider, errors } = await import("oidc-provider");

const ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const SCOPES = ["gatewright:read", "gatewright:apply", "design:read", "design:run", "design:apply", "specimens:*"];
const CLIENT = { client_id: "agent", client_secret: "secret-of-agent" };
const GATEWAY = { client_id: "gateway", client_secret: "secret-of-gateway" };
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
const OTHER = "https://another.example";
const HOUR = 3600;

const [algorithm = "RS256"] = process.argv.slice(2);
if (!ALGORITHMS.includes(algorithm)) throw new Error(`ALG is one of ${ALGORITHMS.join(", ")}`);

// --- the provider ---

/** One signing key of each algorithm, as private JWKs by algorithm. */
async function newKeys() {
  const pairs = ALGORITHMS.map(async (alg) => {
    const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
    const jwk = await jose.exportJWK(privateKey);
    return [alg, { ...jwk, alg, use: "sig", kid: await jose.calculateJwkThumbprint(jwk) }];
  });
  return Object.fromEntries(await Promise.all(pairs));
}

/** What the provider keeps, which is opaque tokens; the library's own adapter would lose them with the keys. */
const stored = new Map();
const store = (model) => ({
  find: async (id) => stored.get(`${model}:${id}`),
  upsert: async (id, payload) => void stored.set(`${model}:${id}`, payload),
  destroy: async (id) => void stored.delete(`${model}:${id}`),
});

/** Who acts in a token that was exchanged: known when it is made, asked for when it is written. */
const actors = new WeakMap();

function newProvider(keys) {
  const resourceServer = (ctx) => ({
    scope: [...SCOPES, ...[...ctx.oidc.requestParamScopes].filter((scope) => /^(docs|specimens):/.test(scope))].join(" "),
    accessTokenTTL: HOUR,
    // /mint asks for these in parameters of its own: a real server decides by the resource.
    accessTokenFormat: ctx.oidc.body.x_format ?? "jwt",
    jwt: { sign: { alg: ctx.oidc.body.x_algorithm ?? algorithm } },
  });
  const made = new Provider(issuer, {
    adapter: store,
    jwks: { keys: Object.values(keys) },
    scopes: ["openid", ...SCOPES],
    clients: [
      { ...CLIENT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] },
      { ...GATEWAY, grant_types: ["client_credentials", EXCHANGE], redirect_uris: [], response_types: [] },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: { enabled: true, defaultResource: () => undefined, getResourceServerInfo: resourceServer },
    },
    extraTokenClaims: (ctx, token) => ({ sub: ctx.oidc.body.x_subject, act: actors.get(token) }),
    // The client is the subject of its own tokens, and the library says so after the claims above.
    formats: { customizers: { jwt: (_, token, jwt) => void (jwt.payload.sub = token.extra.sub ?? jwt.payload.sub) } },
    ttl: { AccessToken: HOUR, ClientCredentials: HOUR },
  });
  const parameters = ["subject_token", "subject_token_type", "requested_token_type", "audience", "resource", "scope"];
  made.registerGrantType(EXCHANGE, (ctx) => exchange(made, keys, ctx), [...parameters, "actor_token"]);
  made.on("server_error", (_, error) => console.error(error));
  return made;
}

/** RFC 8693, as far as a gateway needs it: a token about the same subject, for another audience, that names its actor. */
async function exchange(made, keys, ctx) {
  const { params, client } = ctx.oidc;
  if (![ACCESS_TOKEN, JWT].includes(params.subject_token_type))
    throw new errors.InvalidRequest("unsupported subject_token_type");
  if ((params.requested_token_type ?? ACCESS_TOKEN) !== ACCESS_TOKEN)
    throw new errors.InvalidRequest("unsupported requested_token_type");
  if (params.actor_token) throw new errors.InvalidRequest("the client is the actor; actor_token is not supported");
  const target = params.resource ?? params.audience;
  if (typeof target !== "string" || !URL.canParse(target))
    throw new errors.InvalidTarget("one audience or resource, a URL");

  const subject = await about(made, keys, params.subject_token);
  const held = subject.scope?.split(" ") ?? [];
  const wanted = params.scope?.split(" ") ?? held;
  if (!wanted.every((scope) => held.includes(scope)))
    throw new errors.InvalidScope("more than the subject token has", params.scope);

  const scope = wanted.join(" ") || undefined;
  const token = new made.AccessToken({ accountId: subject.sub, client, gty: "token_exchange", scope });
  const info = {
    scope: wanted.join(" "),
    accessTokenTTL: HOUR,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: algorithm } },
  };
  token.resourceServer = new made.ResourceServer(target, info);
  // The newest actor is outermost; those before it are inside.
  actors.set(token, { sub: client.clientId, ...(subject.act && { act: subject.act }) });
  const access_token = await token.save();
  ctx.body = {
    access_token,
    issued_token_type: ACCESS_TOKEN,
    token_type: "Bearer",
    expires_in: token.expiration,
    scope,
  };
}

/** The claims of a token of ours that is in force. */
async function about(made, keys, text) {
  const known = (await made.ClientCredentials.find(text)) ?? (await made.AccessToken.find(text));
  if (known?.isValid)
    return { sub: known.extra?.sub ?? known.accountId ?? known.clientId, scope: known.scope, act: known.extra?.act };
  try {
    const published = jose.createLocalJWKSet({ keys: Object.values(keys).map(publicPart) });
    return (await jose.jwtVerify(text, published, { issuer, typ: "at+jwt" })).payload;
  } catch (e) {
    throw new errors.InvalidRequest(`subject_token: ${e.message}`);
  }
}

const publicPart = ({ kty, n, e, crv, x, y, alg, use, kid }) => ({ kty, n, e, crv, x, y, alg, use, kid });

// --- what is between the provider and who asks it ---

const requests = {};
const modes = { jwks: "ok", metadata: "ok" };
let changed = () => {};
/** Who shows this is /mint, which is not counted and not interfered with. */
const inside = randomBytes(16).toString("hex");

async function ask(request, response) {
  const { pathname } = new URL(request.url, issuer);
  if (request.headers["x-inside"] === inside) return provider.callback()(request, response);
  requests[pathname] = (requests[pathname] ?? 0) + 1;
  const keys = () => {
    response.setHeader("content-type", "application/jwk-set+json");
    return JSON.stringify({ keys: Object.values(current).map(publicPart) });
  };
  if (pathname === "/elsewhere") return response.end(keys());
  if (pathname === "/jwks") {
    while (modes.jwks === "slow" && !response.destroyed) await Promise.race([nextMode, once(response, "close")]);
    if (modes.jwks === "down") return response.writeHead(503).end();
    if (modes.jwks === "redirect") return response.writeHead(302, { location: `${issuer}/elsewhere` }).end();
    if (modes.jwks === "huge") return huge(response, keys());
  }
  if (pathname.startsWith("/.well-known/")) {
    if (modes.metadata === "down") return response.writeHead(503).end();
    if (modes.metadata === "other_issuer") {
      const real = await fetch(new URL(pathname, issuer), { headers: { "x-inside": inside } });
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ ...(await real.json()), issuer: OTHER }));
    }
  }
  return provider.callback()(request, response);
}

/** White space is valid JSON: a reader without a limit of its own takes all of it, and then finds the keys. */
async function huge(response, keys) {
  const part = Buffer.alloc(1 << 20, " ");
  for (let i = 0; i < 64 && !response.destroyed; i++) {
    if (!response.write(part)) await Promise.race([once(response, "drain"), once(response, "close")]);
  }
  response.end(keys);
}

let nextMode;
function setMode(of, mode, known) {
  if (!known.includes(mode)) throw new Error(`mode is one of ${known.join(", ")}`);
  modes[of] = mode;
  changed();
  nextMode = new Promise((resolve) => (changed = resolve));
  return { mode };
}

// --- minting ---

/**
 * What is different in a token of each kind. All start as a good one from the token endpoint, with its claims and header,
 * and are signed again with the provider's own key: one thing is wrong, and nothing else.
 */
const CHANGES = {
  wrong_audience: (token) => void (token.claims.aud = `${OTHER}/mcp`),
  wrong_issuer: (token) => void (token.claims.iss = OTHER),
  expired: (token) =>
    void Object.assign(token.claims, { iat: token.claims.iat - 2 * HOUR, exp: token.claims.iat - HOUR }),
  not_yet_valid: (token) => void (token.claims.nbf = token.claims.iat + HOUR),
  no_expiry: (token) => void delete token.claims.exp,
  no_subject: (token) => void delete token.claims.sub,
  no_scope: (token) => void delete token.claims.scope,
  no_audience: (token) => void delete token.claims.aud,
  // This one is good: the audience is one of several.
  audience_array: (token) => void (token.claims.aud = [`${OTHER}/mcp`, token.claims.aud]),
  plain_jwt_type: (token) => void (token.header.typ = "JWT"),
  // What a client has for itself, and must not be let in with.
  id_token_type: (token) => {
    const { iss, sub, aud, iat, exp, client_id } = token.claims;
    token.claims = { iss, sub, aud, azp: client_id, iat, exp, auth_time: iat, nonce: "nonce" };
    delete token.header.typ;
  },
  // Signed by a key that nobody published, under a name that nobody knows.
  unknown_kid: async (token) => {
    token.header.kid = "unknown";
    token.key = await stranger(token.header.alg);
  },
  // The same, under the name of a key that is published.
  wrong_key: async (token) => void (token.key = await stranger(token.header.alg)),
  // The token brings the key that it is to be checked with.
  embedded_key: async (token) => {
    token.key = await stranger(token.header.alg);
    token.header.jwk = publicPart(token.key);
  },
  // The claims are others than those that were signed.
  tampered: (token) => {
    token.signed = { ...token.claims };
    token.claims.sub = "someone-else";
  },
  alg_none: (token) => void (token.header.alg = "none"),
  // Checked by whoever takes the algorithm from the header and the key, as a text, from the JWKS.
  hs256_with_public_key: async (token) => {
    const key = await jose.importJWK(publicPart(token.key), token.header.alg, { extractable: true });
    token.key = { secret: Buffer.from(await jose.exportSPKI(key)) };
    token.header.alg = "HS256";
  },
};

async function stranger(alg) {
  const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  return jose.exportJWK(privateKey);
}

async function mint({ kind, audience, subject, scopes = [], algorithm: alg = algorithm, claims }) {
  if (kind !== "good" && kind !== "opaque" && !(kind in CHANGES))
    throw new Error(`kind is good, opaque or one of ${Object.keys(CHANGES).join(", ")}`);
  const form = { grant_type: "client_credentials", resource: audience, scope: scopes.join(" "), x_algorithm: alg };
  if (subject) form.x_subject = subject;
  if (kind === "opaque") form.x_format = "opaque";
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}`, "x-inside": inside },
    body: new URLSearchParams(form),
  });
  const { access_token: issued, ...rest } = await answer.json();
  if (!issued) throw new Error(JSON.stringify(rest));
  if (kind === "opaque") return { token: issued };
  const header = jose.decodeProtectedHeader(issued);
  if (kind === "good" && !claims) return { token: issued, header, claims: jose.decodeJwt(issued) };

  const token = { header, claims: { ...jose.decodeJwt(issued), ...claims }, key: current[alg] };
  await CHANGES[kind]?.(token);
  return { token: await sign(token), header: token.header, claims: token.claims };
}

async function sign({ header, claims, key, signed }) {
  const part = (value) => jose.base64url.encode(JSON.stringify(value));
  if (header.alg === "none") return `${part(header)}.${part(claims)}.`;
  const signer = new jose.CompactSign(Buffer.from(JSON.stringify(signed ?? claims))).setProtectedHeader(header);
  const whole = await signer.sign(key.secret ?? (await jose.importJWK(key, header.alg)));
  const [head, , signature] = whole.split(".");
  return `${head}.${part(claims)}.${signature}`;
}

// --- the control port ---

async function rotate() {
  const kids = () => Object.fromEntries(Object.entries(current).map(([alg, key]) => [alg, key.kid]));
  const before = kids();
  current = await newKeys();
  provider = newProvider(current);
  return { kids: { before, after: kids() } };
}

const CONTROLS = {
  "POST /mint": mint,
  "POST /rotate": rotate,
  "GET /requests": () => requests,
  "POST /jwks": ({ mode }) => setMode("jwks", mode, ["ok", "down", "huge", "redirect", "slow"]),
  "POST /metadata": ({ mode }) => setMode("metadata", mode, ["ok", "down", "other_issuer"]),
};

async function steer(request, response) {
  let status = 200;
  let answer;
  try {
    let text = "";
    for await (const part of request.setEncoding("utf8")) text += part;
    const work = CONTROLS[`${request.method} ${request.url}`];
    if (!work) throw new Error(`there are ${Object.keys(CONTROLS).join(", ")}`);
    answer = await work(JSON.parse(text || "{}"));
  } catch (e) {
    status = 400;
    answer = { error: e.message };
  }
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

// --- start ---

const listen = async (answer) => {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
};
setMode("jwks", "ok", ["ok"]);
const issuer = await listen((request, response) => ask(request, response).catch((e) => response.destroy(e)));
let current = await newKeys();
let provider = newProvider(current);
const control = await listen(steer);
const ready = {
  issuer,
  control,
  algorithm,
  scopes: SCOPES,
  ...CLIENT,
  gateway_id: GATEWAY.client_id,
  gateway_secret: GATEWAY.client_secret,
  jwks_uri: `${issuer}/jwks`,
  token_endpoint: `${issuer}/token`,
  introspection_endpoint: `${issuer}/token/introspection`,
};
process.stdout.write(`${JSON.stringify(ready)}\n`);
process.stdin.resume().on("end", () => process.exit());
