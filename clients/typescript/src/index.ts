/** Client of memplatform, the memory server for agents. */

export { Client, type Filter, type ItemPlace, type WaitOptions, type WithFilter } from "./client.js";
export {
  ApiError,
  AuthenticationFailed,
  Conflict,
  ConnectionFailed,
  InvalidRequest,
  MemplatformError,
  NotFound,
  PermissionDenied,
  RateLimited,
  ServerError,
  WaitTimeout,
  type InvalidValue,
} from "./errors.js";
export type * as models from "./models.js";
export type { Retries } from "./retries.js";
export type { CallOptions, ClientOptions } from "./transport.js";
export { InvalidSignature, verifyWebhook, type Webhook } from "./webhooks.js";
