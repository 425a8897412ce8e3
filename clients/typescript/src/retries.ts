/** Decides whether a failed request is sent again, and when. Nothing is sent or slept here. */

import { ApiError, ConnectionFailed, RateLimited, ServerError } from "./errors.js";

const STILL_RUNNING = "idempotency_in_progress";

/**
 * How often and how soon a request is sent again.
 *
 * The first delay is doubled with each attempt; what the server asks for in Retry-After comes before it. A request that
 * would have to wait for longer than `longestDelayMs` fails.
 */
export interface Retries {
  attempts: number;
  firstDelayMs: number;
  longestDelayMs: number;
}

export const USUAL_RETRIES: Retries = { attempts: 4, firstDelayMs: 500, longestDelayMs: 30_000 };

/** What failed: the number of the attempt, from 1, and whether sending it twice has the effect of sending it once. */
export interface Failure {
  attempt: number;
  error: unknown;
  mayRepeat: boolean;
}

/** Return the milliseconds before the next attempt; undefined if there is none. */
export function delayMs(retries: Retries, { attempt, error, mayRepeat }: Failure): number | undefined {
  if (attempt >= retries.attempts || !isPassing(error, mayRepeat)) return undefined;
  const own = retries.firstDelayMs * 2 ** (attempt - 1) * (0.8 + 0.4 * Math.random());
  const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  const delay = asked === undefined ? own : asked * 1_000;
  return delay > retries.longestDelayMs ? undefined : delay;
}

function isPassing(error: unknown, mayRepeat: boolean): boolean {
  if (error instanceof RateLimited) return true;
  if (error instanceof ServerError || error instanceof ConnectionFailed) return mayRepeat;
  return error instanceof ApiError && error.code === STILL_RUNNING;
}

/** Return the seconds of a Retry-After header, which holds seconds or a date; undefined without a usable one. */
export function secondsOf(retryAfter: string | null): number | undefined {
  if (!retryAfter) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const moment = Date.parse(retryAfter);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1_000);
}
