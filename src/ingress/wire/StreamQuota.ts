/**
 * The limit of open streams: event streams, and the WebSockets of an object.
 *
 * @module
 */
import type { Viewer } from "../../kernel/view/Space.ts"
import * as Problem from "./Problem.ts"

/** The maximum number of open streams of a server or of an object. */
export const MAX_STREAMS = 1024

/** The number of streams reserved for the operator. */
export const RESERVED_STREAMS = 128

/** The maximum number of open streams of one token. All tokens together leave those of the operator free. */
export const TOKEN_STREAMS = 256

/** The maximum number of open streams of all who read without a credential. */
export const PUBLIC_STREAMS = 256

/** Those who share the streams of a host beside its operator: readers, and those who read what is public. */
interface Sharing {
  readonly readers?: ReadonlyArray<unknown> | undefined
  readonly public?: ReadonlyArray<string> | undefined
}

/** Those whose streams are counted together. */
export type Holder = Pick<Viewer, "name" | "of">

/**
 * The number of open streams: in total, and of each reader.
 */
export class StreamQuota {
  private all = 0
  private readonly byReader = new Map<string, number>()
  private readonly share: number

  /** The quota of a host. */
  static of({ public: open = [], readers = [] }: Sharing): StreamQuota {
    return new StreamQuota(readers.length, open.length > 0 ? PUBLIC_STREAMS : 0)
  }

  /** Each reader has an equal share of the streams that are neither reserved for the operator nor for those without a credential. */
  constructor(readers: number, open = 0) {
    this.share = Math.max(1, Math.floor((MAX_STREAMS - RESERVED_STREAMS - open) / Math.max(1, readers)))
  }

  /**
   * Refuses a further stream of a viewer, or of the operator, if it would exceed the limit.
   *
   * @throws RequestRefused
   */
  check(viewer?: Holder): void {
    const refusal = this.refusal(viewer)
    if (refusal === undefined) return
    throw new Problem.RequestRefused({ code: "watch/full", reason: `${refusal}. Close one, or try again in a moment` })
  }

  /** A stream opened, or ended. */
  count(reader: string | undefined, by: 1 | -1): void {
    this.all += by
    if (reader === undefined) return
    const left = (this.byReader.get(reader) ?? 0) + by
    if (left === 0) this.byReader.delete(reader)
    else this.byReader.set(reader, left)
  }

  /** Whether the streams that are left are those of the operator, besides some that have not begun. */
  isReserved(waiting = 0): boolean {
    return this.all + waiting >= MAX_STREAMS - RESERVED_STREAMS
  }

  /** The reason for which no stream can be opened; `undefined` if one can. */
  private refusal(viewer: Holder | undefined): string | undefined {
    if (viewer !== undefined) {
      const { name, of = "reader" } = viewer
      const most = { reader: this.share, token: TOKEN_STREAMS, everybody: PUBLIC_STREAMS }[of]
      const whose = { reader: `of reader "${name}"`, token: `of token ${name}`, everybody: "without a credential" }[of]
      if ((this.byReader.get(name) ?? 0) >= most) return `${most} streams ${whose} are open, which is the limit`
    }
    return (viewer === undefined ? this.all >= MAX_STREAMS : this.isReserved())
      ? `${this.all} streams are open, which is the limit`
      : undefined
  }
}
