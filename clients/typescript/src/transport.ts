/** Sends requests: address and key, timeouts, retries, answers and errors. */

import { ConnectionFailed, MemplatformError, errorOf, type InvalidValue } from "./errors.js";
import { USUAL_RETRIES, delayMs, secondsOf, type Retries } from "./retries.js";

export const DEFAULT_URL = "http://127.0.0.1:8000";
const TIMEOUT_MS = 45_000; // longer than the server lets a request wait

/** Where the server is, and how it is called. Address and key are read from the environment if they are not given. */
export interface ClientOptions {
  /** The address of the server, by default MEMPLATFORM_URL or http://127.0.0.1:8000. */
  baseUrl?: string;
  /** The API key, by default MEMPLATFORM_API_KEY. */
  apiKey?: string;
  /** How long one attempt may take, by default 45 seconds. */
  timeoutMs?: number;
  retries?: Partial<Retries>;
  /** Another `fetch`, for proxies and tests. */
  fetch?: typeof fetch;
}

/** What a single call may be told. */
export interface CallOptions {
  /** Ends the call; it is then rejected with the reason of the signal. */
  signal?: AbortSignal;
  /** How long one attempt may take. */
  timeoutMs?: number;
  /** The key under which a POST is done once, however often it is sent; by default a new one for each call. */
  idempotencyKey?: string;
  /** Change or delete only what is still at this version. */
  version?: number;
}

export type Query = Record<string, unknown>;

/** A request. `mayRepeat`: sending it twice has the effect of sending it once. */
export interface Request {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Query;
  body?: unknown;
  mayRepeat: boolean;
}

export class Transport {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #retries: Retries;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.#baseUrl = (options.baseUrl ?? variable("MEMPLATFORM_URL") ?? DEFAULT_URL).replace(/\/+$/, "");
    this.#apiKey = options.apiKey ?? variable("MEMPLATFORM_API_KEY") ?? "";
    if (!this.#apiKey) throw new MemplatformError("give an apiKey, or set MEMPLATFORM_API_KEY");
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#retries = { ...USUAL_RETRIES, ...options.retries };
    this.#fetch = options.fetch ?? ((...given) => fetch(...given));
  }

  /** Send a request, again if it fails for a while, and return its answer. */
  async send<T>(request: Request, options: CallOptions = {}): Promise<T> {
    const url = `${this.#baseUrl}${request.path}${queryText(request.query)}`;
    const init = { method: request.method, headers: this.#headers(request, options), ...bodyOf(request) };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#sendOnce(url, init, options)) as T;
      } catch (error) {
        const delay = delayMs(this.#retries, { attempt, error, mayRepeat: request.mayRepeat });
        if (delay === undefined) throw error;
        await sleep(delay, options.signal);
      }
    }
  }

  async #sendOnce(url: string, init: RequestInit, options: CallOptions): Promise<unknown> {
    options.signal?.throwIfAborted();
    let response: Response;
    let text: string;
    const limit = limitOf(options.timeoutMs ?? this.#timeoutMs, options.signal);
    try {
      response = await this.#fetch(url, { ...init, signal: limit.signal });
      text = await response.text();
    } catch (error) {
      options.signal?.throwIfAborted();
      throw new ConnectionFailed(`${init.method} ${url}: ${reasonOf(error)}`, { cause: error });
    } finally {
      limit.end();
    }
    return answerOf(response, text);
  }

  #headers(request: Request, options: CallOptions): Headers {
    const headers = new Headers({ Accept: "application/json", Authorization: `Bearer ${this.#apiKey}` });
    if (request.body !== undefined) headers.set("Content-Type", "application/json");
    if (options.version !== undefined) headers.set("If-Match", `"${options.version}"`);
    const isPost = request.method === "POST" && request.mayRepeat;
    if (isPost) headers.set("Idempotency-Key", options.idempotencyKey ?? crypto.randomUUID());
    return headers;
  }
}

/** Return an identifier as a part of a path; half of a character, which no address can hold, is replaced. */
export function inPath(identifier: string): string {
  return encodeURIComponent(identifier.replace(/\p{Surrogate}/gu, "\uFFFD"));
}

/** Wait; rejects with the reason of the signal when it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Return a signal that is aborted after some time or with another one; AbortSignal.timeout keeps no process alive. */
function limitOf(ms: number, outer: AbortSignal | undefined): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DOMException(`no answer in ${ms} ms`, "TimeoutError")), ms);
  const stop = (): void => controller.abort(outer?.reason);
  outer?.addEventListener("abort", stop, { once: true });
  const end = (): void => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
  };
  return { signal: controller.signal, end };
}

/** Return the query as text: a list repeats its name, an object is written as JSON, and what is not given is left out. */
function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      parameters.append(name, typeof each === "object" ? JSON.stringify(each) : String(each));
    }
  }
  return parameters.size ? `?${parameters}` : "";
}

function bodyOf(request: Request): { body?: string } {
  return request.body === undefined ? {} : { body: JSON.stringify(request.body) };
}

/** Return the JSON of an answer, undefined for an empty one. Throws an ApiError. */
function answerOf(response: Response, text: string): unknown {
  if (response.ok) return text ? parsed(text) : undefined;
  const problem = problemOf(text);
  throw errorOf({
    status: response.status,
    code: String(problem["code"] ?? ""),
    detail: String(problem["detail"] ?? ""),
    errors: (problem["errors"] ?? []) as InvalidValue[],
    retryAfterSeconds: secondsOf(response.headers.get("Retry-After")),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MemplatformError(`the answer is not JSON: ${text.slice(0, 200)}`, { cause: error });
  }
}

/** Return the problem document; one made from the text, if something before the server has answered. */
function problemOf(text: string): Record<string, unknown> {
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null) return problem as Record<string, unknown>;
  } catch {
    // no JSON: see below
  }
  return { detail: text.slice(0, 200) };
}

function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : String(inner);
}

function variable(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env[name] || undefined;
}
