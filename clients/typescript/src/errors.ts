/** Errors of the client, made from the problem documents (RFC 9457) of the server. */

/** Anything that this package throws, except for the reason of an AbortSignal of the caller. */
export class MemplatformError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server could not be reached, or did not answer in time. */
export class ConnectionFailed extends MemplatformError {}

/** A trace had not ended when the time to wait for it was up. */
export class WaitTimeout extends MemplatformError {}

/** One invalid value: a JSON pointer into the body, or the name of a parameter or header. */
export interface InvalidValue {
  message: string;
  pointer?: string;
  parameter?: string;
}

/** What an answer of 400 or above says. `code` is stable and meant for programs, `detail` for people. */
export interface Refusal {
  status: number;
  code: string;
  detail: string;
  errors: InvalidValue[];
  retryAfterSeconds: number | undefined;
}

/** The server refused a request. */
export class ApiError extends MemplatformError {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: InvalidValue[];
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal) {
    super(`${refusal.status} ${refusal.code}: ${refusal.detail}`);
    this.status = refusal.status;
    this.code = refusal.code;
    this.detail = refusal.detail;
    this.errors = refusal.errors;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
  }
}

/** The API key is missing or not valid (401). */
export class AuthenticationFailed extends ApiError {}

/** The API key does not have the scope that is needed (403). */
export class PermissionDenied extends ApiError {}

/** Nothing with this identifier exists in the project (404). */
export class NotFound extends ApiError {}

/** What is to be changed has changed meanwhile, or exists already (409). */
export class Conflict extends ApiError {}

/** The request can't be carried out as it is (other 4xx). */
export class InvalidRequest extends ApiError {}

/** Too many requests, or a full queue or quota (429). */
export class RateLimited extends ApiError {}

/** The server failed, or is not available (5xx). */
export class ServerError extends ApiError {}

const BY_STATUS = new Map<number, new (refusal: Refusal) => ApiError>([
  [401, AuthenticationFailed],
  [403, PermissionDenied],
  [404, NotFound],
  [409, Conflict],
  [429, RateLimited],
]);

/** Return the error for a status of 400 or above. */
export function errorOf(refusal: Refusal): ApiError {
  const kind = BY_STATUS.get(refusal.status) ?? (refusal.status >= 500 ? ServerError : InvalidRequest);
  return new kind(refusal);
}
