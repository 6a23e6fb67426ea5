/**
 * The channel `frame`: the space of a request as a frame, in a file below one folder; and the enzyme that asks for one.
 *
 * | opcode | payload | value | repeatable |
 * |---|---|---|---|
 * | `begin` | `{ path }`, and `history` and `content` as of `systole export` | `{ spans, isWhole }` | yes: it begins anew |
 * | `write` | `{ path, of, seq }` | `{ spans, isWhole }` | yes: the same span again |
 * | `finish` | `{ path, of }` | `{ path, bytes }` | no: its file has its name already |
 * | `drop` | `{ path, of }` | `{ path }` | yes |
 *
 * A frame is the state at the newest durable beat of its `begin`, whose request id is `of` in the others. `write` writes a span of
 * 262,144 bytes, the last one shorter; `spans` are there to be written, all of them if `isWhole`. `finish` waits for the disk, and
 * gives the file its name; a file of that name is refused at `begin` (`io/exists`). A path is relative to the option `root`, by
 * default `<project>/frames`.
 *
 * The signal `/signals/frame/export` has the durable enzyme `frame_export` do all of it, with the payload `{ channel, path }` and
 * the parts. The dossier of its run has a request for `begin`, each span and `finish`, at most four writes in flight. A failure that
 * passes, such as a full disk, is tried again after 1, 2 and 4 beats. Any other one is reported (`persist.frame.io`), the half file is
 * removed, and the run becomes a dead letter, which is sent again with `--anew`. A restart is such a failure, because frames in
 * progress are in memory.
 *
 * A frame holds all labels, whatever the labels of the run are, and is not signed. Whoever configures the channel lets each enzyme
 * write its space into that folder. At most 8 frames are in progress; one without a request for 10 minutes is dropped. A run has at
 * most 8 MiB of steps, so a frame has at most some 2 GiB.
 *
 * @module
 */
import { resolve } from "node:path"
import * as Schema from "effect/Schema"
import { Channel, type ChannelOptions, Enzyme, type PendingResult, Plugin, type Transaction } from "systole"
import * as Fields from "./channel/Fields.ts"
import { Jail, path } from "./channel/Jail.ts"
import * as Operations from "./channel/Operations.ts"
import * as FrameSink from "./frame/FrameSink.ts"
import { FrameTransfers } from "./frame/FrameTransfers.ts"
import { AHEAD, type Known, SPAN } from "./frame/Spans.ts"

/** Attempts of a request: the waits between them are 1, 2 and 4 beats. */
const ATTEMPTS = 4

const begun = { path, of: Fields.text(1000) }

const parts = { history: Fields.optional(Fields.oneOf("all", "none")), content: Fields.optional(Fields.oneOf("inline", "refs")) }

const quoted = ({ path }: { readonly path: string }): string => JSON.stringify(path.slice(0, 200))

/** Makes the place of a frame. */
export type Create = (path: string, begun: FrameSink.Begun) => Promise<FrameSink.Sink>

/** The pieces of a frame. Its failures end it for good. */
async function* pieces(job: Channel.Job, given: Fields.Of<typeof parts>): AsyncGenerator<Uint8Array> {
  if (job.frame === undefined) throw Channel.fail("io/denied", "the runtime has no slice archive", { errno: -1 })
  try {
    yield* job.frame(given)
  } catch (error) {
    const { code = "export/failed" } = error as { readonly code?: string }
    throw Channel.fail(code, error instanceof Error ? error.message : String(error))
  }
}

/** The operations over a place of frames. */
export const operations = (jail: Jail, frames: FrameTransfers, create: Create): Operations.Operations => ({
  begin: Operations.operation({
    repeatable: true,
    fields: { path, ...parts },
    about: quoted,
    execute: async ({ path, ...given }, job) => {
      const frame = { space: job.space, of: job.rid }
      const source = { pieces: pieces(job, given), create: () => create(path, frame), signal: job.signal }
      return { value: await frames.begin(frame, source), bytes: 0 }
    }
  }),
  write: Operations.operation({
    repeatable: true,
    fields: { ...begun, seq: Fields.count(0, 2 ** 32) },
    about: quoted,
    execute: async ({ of, seq }, { space }) => {
      const { bytes, ...known } = await frames.write({ space, of }, seq)
      return { value: known, bytes }
    }
  }),
  finish: Operations.operation({
    fields: begun,
    about: quoted,
    execute: async ({ of, path }, { space }) => ({ value: { path, bytes: await frames.finish({ space, of }) }, bytes: 0 })
  }),
  drop: Operations.operation({
    repeatable: true,
    fields: begun,
    about: quoted,
    execute: async ({ of, path }, { space }) => {
      const isOpen = await frames.drop({ space, of })
      if (!isOpen) await FrameSink.drop(jail, path, { space, of })
      return { value: { path }, bytes: 0 }
    }
  })
})

const Order = Schema.Struct({
  channel: Schema.String,
  path: Schema.String,
  history: Schema.optionalKey(Schema.Literals(["all", "none"])),
  content: Schema.optionalKey(Schema.Literals(["inline", "refs"]))
})

/** A result of the channel. */
type Result = Awaited<PendingResult<{ readonly rid: string; readonly value?: unknown }>>

/** Writes the spans of a frame in their order, at most four at the same time. */
const spans = async (first: Known, write: (seq: number) => PendingResult<Result>): Promise<void> => {
  const writing: Array<PendingResult<Result>> = []
  let { spans } = first
  let next = 0
  try {
    for (;;) {
      while (next < spans && writing.length < AHEAD) writing.push(write(next++))
      const oldest = writing[0]
      if (oldest === undefined) return
      const { value } = await oldest
      writing.shift()
      spans = Math.max(spans, (value as Known).spans)
    }
  } catch (error) {
    for (const each of writing.slice(1)) each.cancel()
    throw error
  }
}

/** The enzyme that exports its space. */
export const exported = Enzyme.make({
  name: "frame_export",
  query: "/signals/frame/export",
  payload: Order,
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const { channel, path, ...given } = payload
    const ask = (opcode: string, more: object, bytes = 0) =>
      tx.io.request({ channel, opcode, payload: { path, ...more }, bytes, attempts: ATTEMPTS })
    let of: string | undefined
    try {
      const begun = await ask("begin", given)
      of = begun.rid
      await spans(begun.value as Known, (seq) => ask("write", { of, seq }, SPAN))
      return (await ask("finish", { of })).value
    } catch (error) {
      const { code = "io/failed" } = error as { readonly code?: string }
      tx.report({ severity: "sev:crit", topic: "persist.frame.io", code, note: `the frame ${quoted({ path })} is not written` })
      // The report goes out with the segment that waits, and a segment that fails leaves nothing.
      if (of === undefined) await tx.sleep(0)
      else await ask("drop", { of })
      throw error
    }
  }
})

const options = { root: Fields.or(Fields.text(4096), "frames") } satisfies Fields.For<ChannelOptions["frame"]>

export default Plugin.make({
  name: "frame",
  version: "0.2.0",
  provides: {
    channels: {
      frame: (settings) => {
        const { root } = Fields.options("frame", options, settings)
        const jail = new Jail(resolve(settings.root, root), "frame")
        const frames = new FrameTransfers()
        return {
          provider: "frame",
          hosts: ["node", "deno", "bun"],
          target: jail.root,
          close: () => frames.close(),
          ...Operations.channel(operations(jail, frames, (path, begun) => FrameSink.create(jail, path, begun)))
        }
      }
    }
  },
  enzymes: [exported],
  reserved: ["/signals/frame/"],
  needs: ["archive", "durable", "requests"]
})
