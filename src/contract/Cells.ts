/**
 * Endpoints of the state of a space: cells, content and beats.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "./CellValue.ts"
import * as Endpoint from "./Endpoint.ts"
import { SPACE } from "./Paths.ts"
import * as Query from "./Query.ts"
import * as Stream from "./Stream.ts"
import { words } from "./Words.ts"

const text = Schema.String
const count = Schema.Number

/** The parts of an address beside its cell. */
const address = { path: Query.text("/count"), scope: Query.text("user:42") }

/** The query of a read. No other parameter is taken. */
const asked = () => Schema.Struct({
  ...address,
  list: Query.flag(),
  below: Query.flag(),
  values: Query.flag(),
  own: Query.flag(),
  after: Query.text(),
  limit: Query.limit(Query.MOST, Query.MOST),
  pull: Query.flag(),
  last: Query.text()
})

/** The value of a cell, or a list of cells. Its handler reads the query itself, and writes the value by hand. */
export const read = Endpoint.make("GET", `${SPACE}/cells/*`, {
  does: words(
    "The value of a cell. `?path` selects a place inside it, `?list` the names of its children, `?below` all cells below " +
    "it, both in pages that look at 400 cells: a page can be short before the end, which is where `next` is null. " +
    "`?below&own` leaves out the folders of the runtime, such as `/rt` and `/sys`. " +
    "`?pull` updates a derived cell first. `?below&values` tells the values, too, about 1 MiB on a page; readers do not have it. " +
    "As `text/event-stream`: the value now and after each change; see Streams. `ETag` is the tag of the value."
  ),
  query: asked,
  isByHand: true,
  headers: ["Prefer: wait=N", "Last-Event-ID", "If-None-Match"],
  answer: CellValue.schema,
  others: { 304: () => Schema.Void },
  refusals: ["address/invalid", "cell/absent", "cell/content", "cell/held", "link/loop"],
  events: Stream.ofCell,
  access: "reader"
})

/** The conditions of a write. */
const conditions = ["If-Match", "If-None-Match: *"]

/** The refusals of a write or a removal. */
const ofWrite = ["address/invalid", "cell/changed", "cell/condition", "cell/locked", "cell/refused", "inbox/full", "space/held"]

const written = () => Schema.Struct({ beat: count })

/** A write of a cell. Its handler decodes the value by hand. */
export const write = Endpoint.make("PUT", `${SPACE}/cells/*`, {
  does: words(
    "Writes a cell with the next beat: `{ beat }`. With a condition, only if the beat finds the value that has the tag, any value " +
    "(`If-Match: *`) or none; see Conditions. `ETag` is the tag of the written value."
  ),
  verb: "write",
  query: () => Schema.Struct(address),
  headers: conditions,
  isByHand: true,
  body: CellValue.schema,
  content: "the value",
  answer: written,
  refusals: [...ofWrite, "cell/type", "value/invalid"]
})

/** The removal of a cell, or of a place inside it. */
export const remove = Endpoint.make("DELETE", `${SPACE}/cells/*`, {
  does: words("Deletes a cell with the next beat: `{ beat }`. With a condition as in a write."),
  verb: "write",
  query: () => Schema.Struct(address),
  headers: conditions,
  isByHand: true,
  answer: written,
  refusals: ofWrite
})

/** A declared type: its JSON Schema, and the digest of that. */
const declared = () => Schema.optional(Schema.Struct({ digest: text, schema: Schema.Unknown }))

/** The types of a space. */
export const types = Endpoint.make("GET", `${SPACE}/schema`, {
  does: words(
    "The types that the active modules declare, each by its path: the JSON Schema of its cells, and that of the payload of its signal. " +
    "A reader sees those of the cells that it may know, if a rule of the labels names `/sys/schema/**`. A page looks at 100 types: it " +
    "can be short before the end, which is where `next` is null."
  ),
  query: () => Schema.Struct({ after: Query.text(), limit: Query.limit(100) }),
  answer: () => Schema.Struct({
    types: Schema.Array(Schema.Struct({ path: text, cell: declared(), signal: declared() })),
    next: Query.next(text)
  }),
  access: "reader"
})

const beat = () => Schema.Struct({
  beat: count,
  inbox: Schema.optional(CellValue.schema()),
  agenda: Schema.optional(CellValue.schema()),
  stage: Schema.optional(CellValue.schema()),
  meta: Schema.optional(CellValue.schema())
})

/** The list of beats, and their stream. */
export const beats = Endpoint.make("GET", `${SPACE}/beats`, {
  does: words(
    "The beats, newest first. As `text/event-stream`: each beat once, without gaps, however slow the reader, after `?last` or from " +
    "`?from` on."
  ),
  query: () => Schema.Struct({ before: Query.count(), limit: Query.limit(), from: Query.count(), last: Query.text() }),
  headers: ["Last-Event-ID"],
  answer: () => Schema.Struct({
    head: count,
    beats: Schema.Array(Schema.Struct({ beat: count, clock: count, hash: text })),
    next: Query.next(count)
  }),
  events: { beat, problem: Stream.events.problem }
})

/** One beat. */
export const one = Endpoint.make("GET", `${SPACE}/beats/:beat`, {
  does: words("Inbox, agenda, stage and meta of one beat."),
  answer: beat,
  refusals: ["beat/absent", "query/invalid"]
})

/** The upload of content. */
export const store = Endpoint.make("PUT", `${SPACE}/blobs`, {
  does: words("Stores content: 201 with its SHA-256."),
  verb: "write",
  body: () => Schema.Uint8Array,
  isByHand: true,
  content: "the bytes, up to 32 MiB or the limit of the content store",
  answer: () => Schema.Struct({ hash: text, address: text, size: count, link: text }),
  status: 201,
  refusals: ["body/too-large", "content/large"],
  location: ({ link }) => link
})

/** The download of content. */
export const content = Endpoint.make("GET", `${SPACE}/blobs/:hash`, {
  does: words("Content by its SHA-256, or a part of it. The server reads 1 MiB at a time as its client takes it."),
  headers: ["Range", "If-Range"],
  answer: () => Schema.Uint8Array,
  others: { 206: () => Schema.Uint8Array, 304: () => Schema.Void },
  refusals: ["blob/absent", "blob/range"],
  access: "reader"
})
