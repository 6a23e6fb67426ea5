/**
 * Endpoints that take a space out as a frame, and bring one in.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import * as Query from "./Query.ts"
import { ARCHIVE } from "./SlicePaths.ts"
import { words } from "./Words.ts"

/** The most bytes of one part of a frame over HTTP: 16 MiB. */
export const MAX_PART = 16_777_216

/** The end of a frame, as a query has it. */
const SINCE = /^\d{1,15}-[0-9a-f]{16,64}$/

/** The export of a space. */
export const exported = Endpoint.make("GET", ARCHIVE.export, {
  does: words(
    "The space at one durable beat as a frame, while its beats run: the first part of a new export, or the part that begins with chunk " +
    "`from`. The part with the seal is the last. A new export of a space ends the one before, and so do 10 minutes without a request. " +
    "With `since` it is a range: the journal after the end of another frame, with the queue and the observations of its own end."
  ),
  query: () => Schema.Struct({
    from: Query.count(),
    history: Schema.Literals(["all", "none"]).annotate({ expected: "all or none", description: "all" }).pipe(Schema.optionalKey),
    content: Schema.Literals(["inline", "refs"]).annotate({ expected: "inline or refs", description: "inline" }).pipe(Schema.optionalKey),
    since: Schema.String.check(Schema.isPattern(SINCE)).annotate({
      expected: "the beat at which a frame ended, - and 16 to 64 digits of its digest",
      description: " of the frame before, such as `12-0f3c91ab5e77d204`"
    }).pipe(Schema.optionalKey)
  }),
  answer: () => Schema.Uint8Array,
  refusals: ["archive/full", "export/no-range", "export/outrun", "export/over", "export/unchanged", "store/damaged"],
  verb: "admin"
})

/** The parameters of a part of an import. */
export const importQuery = () => Schema.Struct({
  from: Query.number(),
  frame: Query.count(),
  frames: Query.count(),
  why: Schema.Literals(["copy", "restore"]).annotate({ expected: "copy or restore", description: "copy" }).pipe(Schema.optionalKey)
})

/** The import of a space. */
export const imported = Endpoint.make("PUT", ARCHIVE.import, {
  does: words(
    "Takes a part of a frame for a new space of this name. `from` is its first chunk, 0 for the header, and `next` the chunk that is " +
    "taken next: an import that broke off goes on there. The sender chooses the id. A chain of `frames` is a snapshot with the ranges " +
    "after it, and `frame` the number of one, from 0. With the last seal the space opens, detached. The signals of a copy to other " +
    "spaces stay with its original, and those of a `restore` go out at its release. A refused frame leaves no space, nor does an hour " +
    "without a part. Content by reference is looked for in the content store, and in the space of the frame if it is here and the " +
    "caller may read it; `absent` lists what was found nowhere."
  ),
  query: importQuery,
  body: () => Schema.Uint8Array,
  isByHand: true,
  content: "whole chunks of a frame, at most 16 MiB",
  answer: () => Schema.Struct({
    space: Schema.String,
    /** The number of the frame that goes on; absent after the last seal. */
    frame: Schema.optionalKey(Schema.Number),
    /** The number of its next chunk; absent after the last seal. */
    next: Schema.optionalKey(Schema.Number),
    /** The digest of the whole frame. */
    root: Schema.optionalKey(Schema.String),
    /** The newest beat of the frame. */
    beat: Schema.optionalKey(Schema.Number),
    /** The content that was found nowhere: how many there are, and the digests of the first 20. */
    absent: Schema.optionalKey(Schema.Struct({ count: Schema.Number, hashes: Schema.Array(Schema.String) }))
  }),
  refusals: [
    "archive/full", "body/too-large", "frame/bounds", "frame/changed", "frame/magic", "frame/order", "frame/signature", "frame/unknown",
    "frame/unsealed", "query/invalid", "space/exists", "space/importing"
  ],
  verb: "admin"
})
