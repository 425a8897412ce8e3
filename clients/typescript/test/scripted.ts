/** A server that gives the answers of a script and keeps the requests. */

import { Client } from "../src/index.js";

type Answer = [status: number, body?: unknown, headers?: Record<string, string>] | Error;

export interface Sent {
  method: string;
  path: string;
  headers: Headers;
  body: unknown;
}

/** Return a client and what it has sent; it gets the answers in order, and waits for nothing between attempts. */
export function scripted(...answers: Answer[]): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const answer: typeof fetch = async (address, init) => {
    const url = new URL(String(address));
    const body: unknown = init?.body ? JSON.parse(String(init.body)) : undefined;
    sent.push({ method: init?.method ?? "", path: url.pathname + url.search, headers: new Headers(init?.headers), body });
    const next = answers.shift();
    if (!next) throw new Error("the script has ended");
    if (next instanceof Error) throw next;
    const [status, content, headers] = next;
    return new Response(content === undefined ? null : JSON.stringify(content), { status, headers: headers ?? {} });
  };
  const retries = { firstDelayMs: 0 };
  return { client: new Client({ baseUrl: "http://server/", apiKey: "mp_key", retries, fetch: answer }), sent };
}
