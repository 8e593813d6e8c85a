import { decodeUtf8 } from "./base64url-codec.ts";

interface Input {
  token: string;
  issuer: string;
  audience: string;
  skewSeconds?: number;
  now?: number;
}

interface Reason {
  claim: string;
  code: string;
  detail: string;
}

const YEAR_2100 = 4_102_444_800;

/** Why a token's claims would be refused. Says nothing about its signature. */
export function jwtClaimsCheck(input: Input): { ok: boolean; reasons: Reason[]; claims: Record<string, unknown> } {
  const { token, issuer, audience, skewSeconds = 60 } = input;
  const now = input.now ?? Math.floor(Date.now() / 1000);
  const parts = token.split(".");
  if (parts.length !== 3) throw new TypeError(`a signed JWT has three parts, this has ${parts.length}`);
  const claims = JSON.parse(decodeUtf8(parts[1] ?? "")) as Record<string, unknown>;
  const reasons: Reason[] = [];
  const refuse = (claim: string, code: string, detail: string): void => {
    reasons.push({ claim, code, detail });
  };
  const moment = (claim: string): number | undefined => {
    const value = claims[claim];
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) refuse(claim, "not_a_number", "seconds since 1970 are expected");
    else if (value > YEAR_2100) refuse(claim, "not_seconds", `${value} looks like milliseconds`);
    else return value;
    return undefined;
  };

  if (claims["iss"] !== issuer) refuse("iss", "wrong_issuer", `expected ${issuer}`);
  const audiences = Array.isArray(claims["aud"]) ? claims["aud"] : [claims["aud"]];
  if (!audiences.includes(audience)) refuse("aud", "wrong_audience", `expected ${audience}`);
  const end = moment("exp");
  if (claims["exp"] === undefined) refuse("exp", "missing", "a token without an end is refused");
  if (end !== undefined && now >= end + skewSeconds) refuse("exp", "expired", `${now - end} s ago, ${skewSeconds} s of skew allowed`);
  const start = moment("nbf");
  if (start !== undefined && now < start - skewSeconds) refuse("nbf", "not_yet_valid", `in ${start - now} s`);
  const issued = moment("iat");
  if (issued !== undefined && now < issued - skewSeconds) refuse("iat", "issued_in_future", `in ${issued - now} s`);
  return { ok: reasons.length === 0, reasons, claims };
}
