/**
 * The ledger of an agent through the ingress.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Client, type CliFailure, exits, PageList } from "systole/cli"
import { type OrderEnd, SpaceClient, LedgerFailed, look, sentOf } from "../order/SpaceClient.ts"
import type { Order } from "../order/Order.ts"
import { GRACE_MILLIS } from "../wake/Dispatch.ts"

/** The wait for a receipt in one request, in seconds. */
const WAIT_SECONDS = 60

/** A page of cells with their values. */
interface Page {
  readonly cells: ReadonlyArray<string>
  readonly values: ReadonlyArray<unknown>
  readonly next: string | null
}

/** The cells of a page with their values. */
const valuesOf = (page: Page): Effect.Effect<PageList.Page<{ readonly key: string; readonly value: unknown }>, CliFailure> =>
  Effect.map(PageList.page<string>(page, "cells"), ({ next, rows }) =>
    ({ next, rows: rows.map((key, i) => ({ key, value: page.values[i] })) }))

const NO_ROWS = { isCut: false, rows: [] } as const

const failed = ({ code, message }: CliFailure): LedgerFailed => new LedgerFailed({ problem: code, reason: message })

/**
 * The ledger in a space, which is created by the first use, unless `create` is false. An absent space has no records.
 */
export const layer = (space: string, create: boolean = true): Layer.Layer<SpaceClient, CliFailure, Client> =>
  Layer.effect(SpaceClient, Effect.gen(function*() {
    const client = yield* Client
    const path = `/v1/spaces/${space}`
    if (create || client.isFleeting === true) yield* client.ask(path, { method: "PUT" })
    const orElse = <A>(value: A) => (error: CliFailure): Effect.Effect<A, CliFailure> =>
      error.exit === exits.absent ? Effect.succeed(value) : Effect.fail(error)
    const send: SpaceClient["Service"]["send"] = Effect.fnUntraced(function*(event) {
      const until = (yield* Clock.currentTimeMillis) + (event.payload as Order).timeoutMs + GRACE_MILLIS
      for (;;) {
        const left = until - (yield* Clock.currentTimeMillis)
        const wait = Math.max(1, Math.min(WAIT_SECONDS, Math.ceil(left / 1_000)))
        const request = { method: "POST" as const, isOfEvent: true, body: event, headers: { prefer: `wait=${wait}` } }
        const asked = client.ask<OrderEnd | { readonly status?: "pending" }>(`${path}/signals`, request)
        const end = yield* Effect.catch(asked, (error) =>
          error.code === "signal/id-reused" ? Effect.succeed({ status: "known" } as const) : Effect.fail(failed(error)))
        if (end.status === "known") return "known"
        if (end.status !== undefined && end.status !== "pending") return sentOf(end as OrderEnd)
        // From then on, the record tells the end. A server can keep an event pending for ever, such as in a space that is paused.
        if ((yield* Clock.currentTimeMillis) >= until) return "known"
      }
    })
    return {
      queries: PageList.readAll<{ readonly query: string }>("/v1/enzymes", "enzymes").pipe(
        Effect.map((enzymes) => enzymes.map(({ query }) => query)),
        Effect.provideService(Client, client),
        Effect.mapError(failed)
      ),
      get: (cell) => client.ask<unknown>(`${path}/cells${cell}`, { isValue: true }).pipe(
        Effect.catch(orElse<unknown>(undefined)),
        Effect.mapError(failed)
      ),
      all: Effect.fnUntraced(function*(cell) {
        const pages = PageList.readPages((after) =>
          Effect.flatMap(client.ask<Page>(`${path}/cells${cell}?below&values${PageList.cursorParameter(after)}`), valuesOf))
        const { isCut, rows } = yield* Effect.mapError(Effect.catch(pages, orElse(NO_ROWS)), failed)
        if (isCut) return yield* failed(PageList.endless())
        return rows.filter(({ key }) => !key.includes("/", cell.length + 1)).map(({ value }) => value)
      }),
      list: (cell) =>
        PageList.readAll<string>(`${path}/cells${cell}?list`, "names").pipe(
          Effect.provideService(Client, client),
          Effect.catch(orElse<ReadonlyArray<string>>([])),
          Effect.mapError(failed)
        ),
      set: (cell, value) => Effect.asVoid(Effect.mapError(client.ask(`${path}/cells${cell}`, { method: "PUT", body: value }), failed)),
      remove: (cell) => Effect.asVoid(Effect.mapError(client.ask(`${path}/cells${cell}`, { method: "DELETE" }), failed)),
      changed: look,
      send
    }
  }))
