/** Checks the signatures of webhooks (https://www.standardwebhooks.com). */

import { MemplatformError } from "./errors.js";

const SECRET_PREFIX = "whsec_";
const TOLERANCE_SECONDS = 300;

/** The webhook was not sent by the server that knows the secret, or is too old. */
export class InvalidSignature extends MemplatformError {}

/** A webhook as it arrived. */
export interface Webhook {
  /** The body as it was received: not parsed and written again. */
  body: string | Uint8Array;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The secret of the recipient, `whsec_…`. */
  secret: string;
  /** How far its time may be from now, by default 300. */
  toleranceSeconds?: number;
  /** Seconds since 1970, by default the present. */
  now?: number;
}

/**
 * Return the JSON of a webhook whose signature is right. Throws InvalidSignature.
 *
 * A message may arrive twice: its header `webhook-id` stays the same.
 */
export async function verifyWebhook(webhook: Webhook): Promise<unknown> {
  const { body, secret, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() / 1_000 } = webhook;
  const given = lowerCase(webhook.headers);
  const [id, sent] = [given.get("webhook-id") ?? "", given.get("webhook-timestamp") ?? ""];
  if (!/^\d+$/.test(sent) || Math.abs(now - Number(sent)) > toleranceSeconds) {
    throw new InvalidSignature("the webhook is too old, too new, or has no time");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${sent}.`), bytes);
  const key = await crypto.subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const each of (given.get("webhook-signature") ?? "").split(" ")) {
    const signature = bytesOf(each.replace(/^v1,/, ""));
    // verify() compares in constant time.
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
      return JSON.parse(new TextDecoder().decode(bytes));
    }
  }
  throw new InvalidSignature("the signature is not that of the webhook");
}

function lowerCase(headers: Webhook["headers"]): Map<string, string> {
  const pairs = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  return new Map(pairs.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(" ") : value ?? ""]));
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = bytesOf(secret.replace(SECRET_PREFIX, ""));
  if (!key?.length) throw new InvalidSignature("the secret is not one of memplatform");
  return key;
}

/** Return the bytes of a text in base64; undefined if it is not. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
