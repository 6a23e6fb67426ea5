/**
 * Times as texts, for plugins: all of `systole/time`.
 *
 * All times are milliseconds since 1970, and no function reads a clock.
 *
 * @module
 */
export * as Backoff from "./Backoff.ts"
export * as Cron from "./Cron.ts"
export * as Duration from "./Duration.ts"
export * as Moment from "./Moment.ts"
export { isRefusal, type Refusal } from "./Refusal.ts"
export * as Zone from "./Zone.ts"
