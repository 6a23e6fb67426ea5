/**
 * The command queue: how commands from outside come to the next beat.
 *
 * A command is checked, waits in the inbox, and is answered with the beat that
 * did it and its reply, once that is durable.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as JsonParser from "../../cell/JsonParser.ts"
import type * as Ledger from "../../ledger/Command.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { BindingChange } from "../../stage/Launch.ts"
import * as SpaceClock from "../../stage/SpaceClock.ts"
import * as Write from "../../stage/write/Write.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import * as Commands from "../model/Command.ts"
import * as DeadLetter from "../beat/command/DeadLetter.ts"
import { asControlError } from "../view/Expected.ts"
import type { ControlError } from "../view/Expected.ts"
import * as ExternalChange from "../model/ExternalChange.ts"
import * as SliceTable from "../../ledger/SliceTable.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import * as Pieces from "../derived/Pieces.ts"
import { typesOf } from "../model/SpaceSchema.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import type { ClockStatus, Space, SpaceControl, SpaceStatus, WriteOptions } from "../view/Space.ts"
import { asStopped, ControlRefused, InboxFull, SpaceHeld, type SpaceStopped, WriteRefused } from "../model/SpaceError.ts"

/** The members of the state of a space that commands use. */
type State = Pick<
  LiveState,
  "clock" | "enzymes" | "host" | "inbox" | "ledgers" | "liveClock" | "mode" | "nodes" | "number" | "settings" | "space" |
  "store"
>

/**
 * The commands of one space.
 */
export class CommandQueue implements Omit<SpaceControl, "detached"> {
  private readonly live: State
  private readonly barrier: OutputBarrier
  private readonly group: GroupCommit

  constructor(live: State, { barrier, group }: { readonly barrier: OutputBarrier; readonly group: GroupCommit }) {
    this.live = live
    this.barrier = barrier
    this.group = group
  }

  /**
   * Hands a command to the next beat; answers that beat and the reply when it is durable. `make` throws where it is refused at
   * once. A command that does not expire outlives a hold: it is the runtime's own.
   */
  submit(make: () => Commands.Command, isExpiring = true): Effect.Effect<Commands.Done, ControlError> {
    return Effect.callback<Commands.Done, ControlError>((resume) => {
      if (this.barrier.error !== undefined) return resume(Effect.fail(this.barrier.error))
      const { inbox, ledgers, mode, settings: { limits }, space } = this.live
      try {
        const answer: Commands.Answer = (answer) =>
          resume(answer instanceof Error ? Effect.fail(answer as ControlError) : Effect.succeed(answer))
        const command = make()
        const refused = Commands.refusal(command, mode, ledgers)
        if (refused !== undefined) return resume(Effect.fail(refused))
        const queued: Commands.QueuedCommand = { command, answer }
        const limit = inbox.commands.offer(queued, limits)
        if (limit !== undefined) return resume(Effect.fail(new InboxFull({ space, limit })))
        if (isExpiring) this.expire(queued)
      } catch (error) {
        return resume(Effect.fail(error instanceof PersistenceError ? this.stopped(error) : asControlError(ledgers.refusals)(error)))
      }
      // The beat answers the command. The group is only woken.
      this.group.wake()
    })
  }

  /** Withdraws a command that a hold keeps from its beat for `commandMillis`. With manual beats, the caller steps. */
  private expire(queued: Commands.QueuedCommand): void {
    const { host, inbox, settings: { limits: { commandMillis: millis }, pace }, space } = this.live
    if (!this.group.held || pace === "manual") return
    host.timer(host.now() + millis, () => {
      if (this.group.isInBeat) return this.expire(queued)
      if (this.group.held && inbox.commands.withdraw(queued)) queued.answer(new SpaceHeld({ space, millis }))
    })
  }

  /** The same; answers the beat alone. */
  private tell(make: () => Commands.Command): Effect.Effect<number, ControlError> {
    return Effect.map(this.submit(make), ({ beat }) => beat)
  }

  /** Stops the space after a failure of its store. */
  private stopped(error: PersistenceError): SpaceStopped {
    const stopped = asStopped(this.live.space, error)
    this.group.stop(stopped)
    return stopped
  }

  set(address: string, value: unknown, options: WriteOptions = {}): Effect.Effect<number, ControlError> {
    return this.tell(() => {
      const write = Write.set(ExternalChange.place(address), value)
      typesOf(this.live).check(write.address, value)
      return { kind: "set", write, group: ExternalChange.groupOf(options.group, address), condition: options.condition }
    })
  }

  /** Answers the name of the piece. */
  start(module: string, inputs: { readonly [name: string]: unknown } = {}): Effect.Effect<string, ControlError> {
    return Pieces.start((make) => this.submit(make), module, inputs)
  }

  stop(piece: string): Effect.Effect<number, ControlError> {
    return this.tell(() => ({ kind: "piece", ask: { verb: "stop", name: String(piece) } }))
  }

  integrate(change: ExternalChange.ExternalChange): Effect.Effect<number, ControlError> {
    return this.tell(() => {
      const notice = ExternalChange.notice(change)
      const types = typesOf(this.live)
      for (const [i, { address }] of notice.writes.entries()) types.check(address, change.changes[i]?.value)
      return { kind: "integrate", notice }
    })
  }

  bind(change: BindingChange): Effect.Effect<number, ControlError> {
    return this.tell(() => Commands.binding(change))
  }

  redeliver(id: string, enzyme: string): Effect.Effect<number, ControlError> {
    return this.tell(() => DeadLetter.redelivery(this.live.space, { id, enzyme }))
  }

  readonly step: Space["step"] = Effect.callback((resume) => {
    this.group.step((beat) => resume(Effect.succeed(beat)), (error) => resume(Effect.fail(error)))
  })

  readonly state: SpaceControl["state"] = Effect.sync(() => this.look())

  readonly pause: SpaceControl["pause"] = () => this.steer("pause")
  readonly resume: SpaceControl["resume"] = () => this.steer("resume")
  readonly shutdown: SpaceControl["shutdown"] = () => this.steer("shutdown")
  readonly restart: SpaceControl["restart"] = () => this.steer("boot")

  rollback(to: number): ReturnType<SpaceControl["rollback"]> {
    return this.steer("rollback", to, () => {
      const reason = this.unreachable(to)
      if (reason !== undefined) throw new ControlRefused({ verb: "rollback", reason })
    })
  }

  /** Why no rollback reaches a beat, where none does. */
  private unreachable(to: number): string | undefined {
    if (!Number.isSafeInteger(to) || to < 0) return `${String(to).slice(0, 100)} is no beat; give a whole number from 0`
    const { store } = this.live
    const [newest, pruned] = [store.head().beat, store.anchor().beat]
    if (to > newest) return `beat ${to} is still to come; the newest is ${newest}`
    return to < pruned ? `the journal is pruned up to beat ${pruned}; give that one or a later one` : undefined
  }

  command(ledger: string, command: Ledger.Command): Effect.Effect<Commands.Done, ControlError> {
    return this.submit(() => {
      const known = this.live.ledgers.named(ledger)?.ledger.commands[command.verb]
      const slice = this.live.ledgers.named(ledger) === undefined ? SliceTable.ofLedger(ledger) : undefined
      if (slice !== undefined) throw new SliceTable.SliceAbsent({ slice })
      if (known === undefined) throw new ControlRefused({ verb: `${ledger} ${command.verb}`, reason: "no ledger has such a command" })
      // The command may have parts that are no data: the beat does it as the journal has it.
      return Commands.decode(JsonParser.parse(Commands.encode({ kind: "ledger", ledger, command })) as Commands.CommandLine)
    })
  }

  readonly lock: SpaceControl["lock"] = (cell) => this.locking(cell, true)
  readonly unlock: SpaceControl["unlock"] = (cell) => this.locking(cell, false)
  readonly hold: SpaceControl["hold"] = this.holding(true)
  readonly release: SpaceControl["release"] = this.holding(false)

  readonly clock: SpaceControl["clock"] = Effect.callback((resume) =>
    this.barrier.whenDurable(() => resume(Effect.succeed(this.showClock())), (error) => resume(Effect.fail(error))))

  private showClock(): ClockStatus {
    const { clock, host, liveClock, store } = this.live
    const { shifted, shifts } = clock
    const now = host.now()
    const [date, hostDate] = [now - shifted, liveClock.ofHost(now)]
    const jump = SpaceClock.pendingJump(clock, store.head().clock)
    const keeps = jump === undefined ? null : jump.clock + SpaceClock.DAY - shifted
    return { date, host: hostDate, offset: date - hostDate, shifts, keeps }
  }

  resetClock(): ReturnType<SpaceControl["resetClock"]> {
    const done = this.submit(() => ({ kind: "clock", verb: "reset", millis: 0 }))
    return Effect.map(done, ({ beat, reply }) => ({ offset: reply as number, beat }))
  }

  releaseDetached(drop: ReadonlyArray<SpaceMode.Drop> = []): ReturnType<SpaceControl["releaseDetached"]> {
    return this.tell(() => ({ kind: "release", ...drop.length === 0 ? {} : { drop, last: this.live.number() } }))
  }

  private holding(isHeld: boolean): SpaceControl["hold"] {
    return Effect.callback((resume) =>
      this.barrier.whenDurable(() => {
        this.group.hold(isHeld)
        // Those that came before the hold wait for its end, too.
        for (const queued of this.live.inbox.commands.all()) this.expire(queued)
        resume(Effect.succeed(this.look()))
      }, (error) => resume(Effect.fail(error))))
  }

  private steer(verb: SpaceMode.Verb, to?: number, check: () => void = nothing): ReturnType<SpaceControl["pause"]> {
    const done = this.submit(() => {
      check()
      return { kind: "steer", verb, to }
    })
    return Effect.map(done, ({ beat, reply }) => ({ oid: reply as string, beat }))
  }

  private locking(cell: string, on: boolean): Effect.Effect<number, ControlError> {
    return this.tell(() => {
      const { id, key, text } = ExternalChange.place(cell)
      if (text !== id || key !== id) {
        throw new WriteRefused({ address: cell, reason: "it is no cell but a place in one, or in a scope of its own. Lock the cell" })
      }
      SpaceMode.lockAddress(id)
      return { kind: "lock", cell: id, on }
    })
  }

  private look(): SpaceStatus {
    const { inbox, mode } = this.live
    const { boot_oid = null, control, detached, gated, locks, shdn_oid = null, view_hzn = null } = mode
    return {
      state: SpaceMode.stateOf(mode),
      held: this.group.held,
      control: control === undefined ? null : { verb: control.verb, oid: control.oid },
      parked: gated ? inbox.volume.signals + inbox.backlog.signals : 0,
      ...detached === undefined ? {} : { detached: { why: detached.why, from: detached.from, beat: detached.beat } },
      view_hzn,
      boot_oid,
      shdn_oid,
      locks: [...locks].map(([cell, by]) => ({ cell, by }))
    }
  }
}

const nothing = (): void => {}
