/**
 * A stage over documents in a map, for tests.
 *
 * @module
 */
import { createHash } from "node:crypto"
import type { Value } from "systole"
import { Address, Document } from "systole"
import { Draft } from "../../src/stage/Draft.ts"
import * as Envelope from "../../src/stage/Envelope.ts"
import { CAPTURE, Stage } from "../../src/stage/Stage.ts"

export const SEED = "000102030405060708090a0b0c0d0e0f"

export interface Asked {
  readonly run?: number
  readonly writes?: ReadonlyArray<string>
  readonly system?: boolean
  readonly serializable?: boolean
}

/** Returns the stable code that a call throws, or `none`. */
export const code = (call: () => unknown): string => {
  try {
    call()
    return "none"
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error)
  }
}

/** One beat over documents. */
export class TestBeat {
  readonly stage: Stage
  private readonly stored: ReadonlyMap<string, Document.Document>

  constructor(values: Readonly<Record<string, unknown>> = {}, blobs: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.stored = new Map(Object.entries(values).map(([key, value]) => [key, Document.encode(value)]))
    this.stage = new Stage({
      read: (key) => this.stored.get(key),
      children: (scope, id) => {
        const names = new Set<string>()
        for (const key of this.stored.keys()) {
          const address = Address.parse(key)
          if (address.scope === scope && Address.parent(address.id) === id) names.add(Address.name(address.id))
        }
        return [...names].sort()
      },
      blob: (hash) => blobs.get(hash)
    })
  }

  /** Returns a transaction of this beat. */
  draft({ run = 0, serializable = false, system = false, writes }: Asked = {}): Draft {
    const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
    return new Draft(
      this.stage,
      { beat: 7, semantics: 0, clock: 1_000, date: 1_000, tempo: 0, seed: SEED, hash },
      { run, envelope: Envelope.make(writes, system), serializable }
    )
  }

  /** Writes these values in the capture. */
  capture(values: Readonly<Record<string, unknown>>): this {
    const draft = this.draft({ run: CAPTURE, system: true })
    for (const [address, value] of Object.entries(values)) draft.set(address, value)
    this.stage.capture(draft)
    return this
  }

  /** Calls the body as run number `run` and merges it. Returns the document of its conflict, if there is one. */
  run(run: number, body: (tx: Draft) => void, asked: Asked = {}): string | undefined {
    const draft = this.draft({ ...asked, run })
    body(draft)
    return this.stage.merge(draft, run)?.key
  }

  /** Returns the value of a document at the end of the beat. */
  after(key: string): Value {
    const staged = this.stage.documents.get(key)
    return Document.read(staged === undefined ? this.stored.get(key) : staged.after, [])
  }
}
