/**
 * A run of a program: its marks in the logs, which tell of lost updates, and what it compares.
 *
 * @module
 */
import { type Event, Retry, type Transaction, type Value } from "systole"
import { present } from "../support/Present.ts"
import * as Derived from "./Derived.ts"
import type { Instruction, Outside, Program, Way } from "./Program.ts"

/** The folder of the ends of events that runs waited for. */
export const HANDED = "/data/handed"

/** A run of a program. Derived cells do not show the writes of their own run in the same beat. */
export class Running {
  readonly tx: Transaction
  readonly event: Event
  readonly outside: Outside
  /** The name of its enzyme. */
  readonly enzyme: string
  private marked = -1
  /** The number of marks that the run made at each place. */
  private readonly made = new Map<string, number>()

  constructor(tx: Transaction, event: Event, { enzyme, outside }: { readonly enzyme: string; readonly outside: Outside }) {
    this.tx = tx
    this.event = event
    this.outside = outside
    this.enzyme = enzyme
  }

  /** Reads a log; returns the write of a mark. The write depends on the read, so a lost update loses a mark. */
  decide({ log, way }: { readonly log: number; readonly way: Way }, path: string): () => void {
    const { event, tx } = this
    const text = `${event.id}.${path}`
    const place = way === "link" ? "/data/links/0" : `/data/log/${way}/${log}`
    const key = way === "link" ? "/data/log/value/0" : place
    const before = this.made.get(key)
    const write = this.decided(place, way, text)
    return () => {
      this.marked = tx.beat
      // Another branch of the same run was faster, which no engine can notice: decide anew.
      const isOutdated = this.made.get(key) !== before
      this.made.set(key, (this.made.get(key) ?? 0) + 1)
      if (isOutdated) this.decided(place, way, text)()
      else write()
    }
  }

  private decided(place: string, way: Way, text: string): () => void {
    const { tx } = this
    if (way === "field") {
      const marks = [...marksAt(tx, `${place}#/marks`), text]
      return () => tx.merge(place, { marks })
    }
    if (way === "keys") {
      const key = tx.keys(place)?.length ?? 0
      return () => tx.set(`${place}#/${key}`, text)
    }
    if (way === "names") {
      const name = String(tx.list(place).length).padStart(6, "0")
      return () => tx.set(`${place}/${name}`, text)
    }
    const marks = [...marksAt(tx, place), text]
    return () => tx.set(place, marks)
  }

  /** Decides, sleeps, and only then writes. */
  async decideLate(instruction: Extract<Instruction, { readonly do: "decide" }>, path: string): Promise<void> {
    const write = this.decide(instruction, path)
    await this.tx.sleep(instruction.ms)
    write()
  }

  derived(node: number): void {
    const found = this.marked === this.tx.beat ? undefined : Derived.check(this.tx, node, this.outside.versions)
    if (found !== undefined) this.outside.wrong(found)
  }

  fail({ again, attempts }: { readonly again: boolean; readonly attempts: number }): void {
    if (this.event.attempt > attempts) return
    if (!again) throw new Error("a program failed")
    // Some ask for a wait of their own, by the clock.
    throw new Retry({ reason: "not yet", after: attempts === 3 ? "3s" : undefined })
  }

  send({ body, enzyme, ms, space }: Pick<Extract<Instruction, { readonly do: "send" }>, "body" | "enzyme" | "ms" | "space">): string {
    const { enzymes, spaces } = this.outside
    const to = space === 0 ? {} : { space: present(spaces[space]) }
    const at = ms === 0 || space !== 0 ? {} : { at: { ms } }
    const name = present(enzymes[enzyme % enzymes.length])
    return this.tx.signal({ signal: `/signals/${name}/0`, target: "/data/t/0", payload: body as unknown as Value, ...to, ...at })
  }

  /** Sends an event, waits for its end, and notes that beside its id. */
  async hand(instruction: Extract<Instruction, { readonly do: "hand" }>): Promise<void> {
    const { tx } = this
    const id = this.send({ ...instruction, space: 0 })
    const { status } = await tx.waitForEvent(id)
    tx.set(`${HANDED}/${tx.id()}`, { id, status })
  }

  /** The program that a secret chooses. */
  spy({ body, other }: Extract<Instruction, { readonly do: "spy" }>): Program {
    const secret = this.tx.get("/data/in/secret")
    return Number(String(secret ?? 0).at(-1)) % 2 === 0 ? body : other
  }

  operate({ body, isClosed }: Extract<Instruction, { readonly do: "operate" }>): void {
    const oid = this.tx.op.start({ verb: "op/simulated", target: "/data/t/0", mode: "opm:states" })
    this.tx.op.await(oid, "sts:ok", { signal: "/signals/plain/0", payload: body as unknown as Value })
    if (isClosed) this.tx.op.close(oid, "sts:ok")
  }
}

const marksAt = (tx: Transaction, place: string): ReadonlyArray<Value> => (tx.get(place) ?? []) as ReadonlyArray<Value>
