/**
 * Views: all that the public API and HTTP show of a space, as text by name.
 *
 * @module
 */
import { Effect, Fiber } from "effect"
import { createHash } from "node:crypto"
import { Document, replay, Reporter, Slices, type Space, verify, why } from "systole"
import * as App from "../../src/ingress/App.ts"
import type { InputLine } from "../../src/kernel/journal/InputLine.ts"
import * as Journal from "../../src/kernel/journal/Journal.ts"
import type { Process } from "./StoryProcess.ts"
import { beats } from "./Story.ts"

/** Texts by the names of the views. */
export type View = Readonly<Record<string, string>>

const text = (value: unknown): string => value === undefined ? "absent" : Document.encode(value).text

/** A page that holds all of a recorded space. */
const ALL = { limit: 10_000 }

/** Counts that a fresh process begins anew are no part of a node's view. */
const nodeOf = ({ error, heldBy, kind, live, name, outputs, parent, reads, status }: Record<string, unknown>): unknown =>
  ({ name, kind, status, live, outputs, reads, parent: parent ?? null, heldBy: heldBy ?? null, error: error ?? null })

const idOf = (line: InputLine): string => typeof line === "string" ? line : "id" in line ? line.id : line[0]

const journal = (space: Space) =>
  space.examine(({ store }) => {
    const head = store.head()
    const rows = [...store.scanJournal(0, head.beat)]
    const ids = new Set(rows.flatMap((row) => Journal.parse(row.text).in.map(idOf)))
    return {
      head: JSON.stringify(head),
      rows: rows.map(({ beat, hash, text }) => `${beat} ${hash} ${createHash("sha256").update(text).digest("hex")}`).join("\n"),
      ids: [...ids].sort(),
      keys: store.below("/", ALL)
    }
  })

const history = Effect.fnUntraced(function*(space: Space, keys: ReadonlyArray<string>) {
  const head = yield* space.head
  const shown: Record<string, string> = {}
  for (let from = 0; from <= head; from += 7) {
    const { changed, difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    shown[`replay ${from}`] = JSON.stringify([difference ?? null, impossible ?? null, changed])
  }
  shown["verify"] = JSON.stringify((yield* space.examine(verify)).fault ?? null)
  for (const key of keys.filter((_, i) => i % 10 === 0)) {
    shown[`why ${key}`] = JSON.stringify(yield* space.examine((archive) => why(archive, key)))
  }
  return shown
})

/** The views that the kernel gives of a space. */
export const ofSpace = Effect.fnUntraced(function*(space: Space) {
  const { head, ids, keys, rows } = yield* journal(space)
  const shown: Record<string, string> = { head, journal: rows }
  for (let beat = 0; beat <= (yield* space.head); beat++) {
    for (const part of ["inbox", "agenda", "stage", "meta"]) {
      const key = `/rt/beat/${beat}/${part}`
      shown[key] = text(yield* space.get(key))
    }
  }
  for (const key of keys) shown[`cell ${key}`] = text(yield* space.get(key))
  for (const id of ids) shown[`receipt ${id}`] = JSON.stringify((yield* space.receipt(id)) ?? null)
  const letters = (yield* space.dead(ALL)).letters
  shown["dead"] = JSON.stringify(letters)
  shown["ops"] = JSON.stringify(yield* space.ops.list(ALL))
  shown["rv"] = JSON.stringify(yield* rendezvous(space))
  const { instances, next } = yield* space.flows.list(ALL)
  shown["flows"] = JSON.stringify({ instances: yield* Effect.forEach(instances, ({ inst }) => space.flows.get(inst)), next })
  shown["state"] = JSON.stringify(yield* space.control.state)
  shown["graph"] = JSON.stringify((yield* space.graph.view).nodes.map((node) => nodeOf({ ...node })))
  return { ...shown, ...yield* history(space, keys), ...yield* cleared(space, keys) }
})

/** The rendezvous, each with the digest of its token, which lists do not show. */
const rendezvous = Effect.fnUntraced(function*(space: Space) {
  const { next, rendezvous } = yield* space.rv.list(ALL)
  const rows = yield* Effect.forEach(rendezvous, ({ telemetry, ...row }) => Effect.map(space.get(`/data/rv/${row.key}`), (entry) =>
    ({ ...row, token_id: (entry as { readonly token_id?: string }).token_id ?? "", telemetry })))
  return { rendezvous: rows, next }
})

/** A reader without clearance may have to wait for a beat: it brings what is derived up to date. */
const cleared = Effect.fnUntraced(function*(space: Space, keys: ReadonlyArray<string>) {
  const reader = space.reader({ name: "web", atoms: [] })
  const shown: Record<string, string> = {}
  for (const key of keys) {
    const answer = Effect.match(reader.get(key), { onSuccess: text, onFailure: ({ code }) => code })
    const fiber = yield* Effect.forkChild(answer, { startImmediately: true })
    for (let i = 0; i < 20 && fiber.pollUnsafe() === undefined; i++) yield* beats(space, 1)
    shown[`reader ${key}`] = yield* Fiber.join(fiber)
  }
  return shown
})

/** The answers to GET requests, by their paths; headers of time are left out. */
const routes = (space: string): ReadonlyArray<string> =>
  [
    "beats", "beats/0", "beats/3", "dead", "ops", "rv", "flows", "control",
    "cells/data?list", "cells/data?below", "cells/data/open", "cells/data/total",
    "journal/verification", "replay?from=0&to=9", "why?address=/data/total"
  ].map((path) => `/v1/spaces/${space}/${path}`)

/** The views that HTTP gives of a space. */
export const ofHttp = ({ hash, kernel }: Process, space: string): Effect.Effect<View> =>
  Effect.promise(async () => {
    const closing = new AbortController().signal
    const services = { slices: Slices.all, kernel, hash }
    const app = App.make(services, { token: undefined, loopback: true, reporter: new Reporter(() => {}), closing, pages: {} })
    const shown: Record<string, string> = {}
    for (const path of routes(space)) {
      const response = await app.fetch(new Request(`http://localhost${path}`))
      const { headers, status } = response
      shown[`GET ${path}`] = `${status} ${headers.get("content-type")} ${headers.get("etag")} ${await response.text()}`
    }
    return shown
  })
