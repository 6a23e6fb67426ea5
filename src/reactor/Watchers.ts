/**
 * The watchers of channels: enzymes that await room in the queue of a channel (CTS) [S3 §Control-plane directories].
 *
 * A watcher is an entry of the cell `io_chan/<cid>/watchers`. Room is a fact of the host, so it enters a beat as captured
 * input. The beat then sends one signal to each watcher and removes it.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { Opening } from "../ledger/Ledger.ts"
import { below } from "../persistence/Below.ts"
import type { RequestLaunch } from "../stage/Launches.ts"
import { CAPTURE } from "../stage/Stage.ts"
import type { Beat } from "./Kinds.ts"
import * as Requests from "./Request.ts"
import { workOf } from "./Work.ts"

/** The watchers of a channel by their enzymes: the signal of each, and the length of its signal chain. */
type Watchers = Readonly<Record<string, { readonly signal: string; readonly depth: number }>>

const none: Watchers = {}

const addressOf = (channel: string) => Requests.channelAddress(Requests.SHARED, channel, "watchers")

const read = ({ stage }: Pick<Beat, "stage">, channel: string): Watchers =>
  (Document.read(stage.newest(addressOf(channel).key), []) ?? none) as unknown as Watchers

/** The watchers of a channel, and the run that writes them. */
interface Written {
  readonly channel: string
  readonly watchers: Watchers
  readonly writer: number
}

const write = (beat: Beat, { channel, watchers, writer }: Written): void => {
  beat.stage.put(addressOf(channel), Document.encode(watchers as unknown as Value), writer)
  workOf(beat).watched.add(channel)
}

/** Adds a watcher; an earlier one of the same enzyme is replaced. */
export const add = (beat: Beat, launch: Extract<RequestLaunch, { readonly kind: "watch" }>, run: number): void => {
  const { channel, depth, enzyme, signal } = launch
  write(beat, { channel, watchers: { ...read(beat, channel), [enzyme]: { signal, depth } }, writer: run })
}

/** Removes the watchers of the channels that have room. Their signals follow at the commit. */
export const fire = (beat: Beat): void => {
  const { input } = beat
  for (const channel of input?.rooms ?? []) {
    const watchers = Object.entries(read(beat, channel))
    if (input === undefined || watchers.length === 0) continue
    beat.useInput()
    input.asked.rooms.add(channel)
    write(beat, { channel, watchers: none, writer: CAPTURE })
    for (const [enzyme, { depth, signal }] of watchers) workOf(beat).fired.push({ channel, enzyme, signal, depth })
  }
}

/** Sends the signals of the watchers that the beat removed. */
export const atCommit = (beat: Beat): void => {
  for (const { channel, depth, enzyme, signal } of beat.work?.fired ?? []) {
    const target = Requests.channelAddress(Requests.SHARED, channel).key
    beat.send({ signal, target, payload: Document.encode({ channel }), depth, awaits: enzyme })
  }
}

/** Updates the watched channels once the beat is in the store. Returns the changed ones that have watchers. */
export const committed = (beat: Beat): ReadonlyArray<string> => {
  const changed = [...beat.work?.watched ?? []]
  const watched = changed.filter((channel) => Object.keys(read(beat, channel)).length > 0)
  for (const channel of changed) {
    if (watched.includes(channel)) beat.state.watched.add(channel)
    else beat.state.watched.delete(channel)
  }
  return watched
}

/** The watched channels of a store. */
export const open = ({ documents, store }: Pick<Opening, "documents" | "store">): ReadonlyArray<string> => {
  const folder = Requests.CHANNELS
  const channels = Array.from(below(store, folder)).flatMap((key) => {
    const [channel = "", part] = key.slice(folder.length + 1).split("/")
    return part === "watchers" ? [channel] : []
  })
  return channels.filter((channel) =>
    Object.keys((Document.read(documents.read(addressOf(channel).key), []) ?? {}) as object).length > 0)
}
