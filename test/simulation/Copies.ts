/**
 * Copies and backups of the spaces of a world: exports beside beats, imports with kills between their parts, and releases.
 *
 * @module
 */
import { Effect, Exit, Scope, Stream } from "effect"
import type { Space } from "systole"
import type * as Export from "../../src/archive/Export.ts"
import { Imports } from "../../src/archive/Imports.ts"
import { type Frame, frameOf, isSame, linesOf, stored } from "../archive/Stored.ts"
import { hash } from "../frame/Frames.ts"
import { present } from "../support/Present.ts"
import * as Random from "../support/Random.ts"
import * as Derived from "./Derived.ts"
import { over } from "./Over.ts"
import type { Step } from "./Plan.ts"
import type { Acknowledged, World } from "./World.ts"

/** The kinds of events of copies, for coverage. */
export const kinds = ["export", "range", "import", "resumed import", "restore", "release"] as const

/** The kinds of events for which the actions of a plan ask. */
export const kindsOf = (actions: ReadonlySet<string>): ReadonlyArray<typeof kinds[number]> => {
  const isBack = actions.has("backup") && actions.has("restore")
  return [
    ...actions.has("copy") || actions.has("backup") ? ["export" as const] : [],
    ...actions.has("backup") ? ["range" as const] : [],
    ...actions.has("copy") || isBack ? ["import" as const, "resumed import" as const] : [],
    ...isBack ? ["restore" as const] : [],
    ...actions.has("copy") && actions.has("free") || isBack ? ["release" as const] : []
  ]
}

/** The most copies of a world. */
const MOST = 2

/** The most times that an import is begun or goes on. */
const ATTEMPTS = 6

/** A frame of a backup, with the state of the world at its pin. */
export interface Point {
  readonly frame: Frame
  readonly end: Export.End
  readonly acknowledged: ReadonlyArray<Acknowledged>
  /** The ids of these of which no operator began a handling again or ended it. */
  readonly untouched: ReadonlyArray<string>
  readonly isGated: boolean
}

/** The copies and the backups of a world. */
export class Copies {
  private readonly world: World
  /** The points of the chain of each space. */
  private readonly chains = new Map<string, Array<Point>>()
  private copies = 0
  /** The imports of each process, by its host and its life. */
  private readonly imports = new Map<string, Imports>()
  /** The newest frames of each space that is brought in. */
  private readonly brought = new Map<string, ReadonlyArray<Frame>>()
  private readonly draw: Random.Random

  constructor(world: World) {
    this.world = world
    this.draw = Random.make(world.plan.seed + 3)
  }

  /** Forgets the backups of a space, which is another one. */
  forget(name: string): void {
    this.chains.delete(name)
  }

  /** The acknowledgements and the gate of a space by now. */
  private told(name: string): Pick<Point, "acknowledged" | "isGated" | "untouched"> {
    const { world } = this
    const acknowledged = world.acknowledged.filter(({ space }) => space === name)
    const untouched = acknowledged.map(({ id }) => id).filter((id) => !world.touched.has(id))
    return { acknowledged, untouched, isGated: world.gated.has(name) }
  }

  /** Takes a frame while beats run; `undefined` if that fails or its process ends. */
  private async export(space: Space, { load, step: { numbers: [, , how] } }: Asked, parts: Export.Parts = {}): Promise<Point | undefined> {
    const { draw, world } = this
    const home = present(world.homes[world.names.indexOf(space.name)])
    const life = present(world.hosts[home]).life
    const scope = Effect.runSync(Scope.make())
    // Signals are acknowledged until the pin begins.
    const begun = Effect.map(Effect.all([space.pin, space.pin]), (pins) => ({ pins, told: this.told(space.name) }))
    const exit = await world.run(Scope.provide(begun, scope))
    if (exit === undefined || !Exit.isSuccess(exit)) return undefined
    const { pins: [slow, quick], told } = exit.value
    const rest = async (): Promise<void> => {
      slow.rest()?.catch(() => {})
      if (draw(4) === 0) await world.pass(1 + draw(6))
      if (present(world.hosts[home]).life !== life) throw new Error("the process is over")
    }
    try {
      const truth = await frameOf(quick, parts)
      if (how % 3 > 0) await load()
      const frame = await frameOf(over(slow, { rest }), parts)
      world.count(parts.since === undefined ? "export" : "range")
      if (quick.head.beat === slow.head.beat && !isSame(frame, truth)) {
        world.wrong.push(`${space.name}: a frame of beat ${slow.head.beat} differs from another one that was taken at once`)
      }
      return { frame, end: { beat: slow.head.beat, hash: slow.head.hash }, ...told }
    } catch (error) {
      if (!isExpected(error)) throw error
      return undefined
    } finally {
      await world.run(Scope.close(scope, Exit.void))
      await world.quiet()
    }
  }

  /** Takes a backup: a range after the one before, or a snapshot. */
  async backup(space: Space, asked: Asked): Promise<void> {
    const chain = this.chains.get(space.name) ?? []
    const since = asked.step.numbers[1] % 3 === 0 ? undefined : chain.at(-1)?.end
    const point = await this.export(space, asked, since === undefined ? {} : { since })
    if (point === undefined) return
    if (since === undefined) this.chains.set(space.name, [point])
    else chain.push(point)
  }

  /** Makes a copy of a space on another host, if there is one. */
  async copy(space: Space, asked: Asked): Promise<void> {
    const { world } = this
    const state = await world.run(space.control.state)
    const isRunning = state !== undefined && Exit.isSuccess(state) && state.value.state === "running" && state.value.control === null
    if (this.copies >= MOST || !isRunning) return
    const point = await this.export(space, asked)
    if (point === undefined) return
    const name = `${space.name}-${++this.copies}`
    const home = (present(world.homes[world.names.indexOf(space.name)]) + 1) % world.hosts.length
    if (!await this.bring(name, home, { frames: [point.frame], end: point.end, why: "copy", step: asked.step })) return
    this.arrive(name, home, point)
    world.deliveries.share(space.name)
    const copy = await world.space(world.names.indexOf(name))
    const set = copy && await world.run(copy.set(Derived.SELF, name))
    if (set === undefined || !Exit.isSuccess(set)) world.deliveries.share(name)
  }

  /** A space came with a frame. */
  private arrive(name: string, home: number, { acknowledged, isGated }: Pick<Point, "acknowledged" | "isGated">): void {
    const { world } = this
    if (!world.names.includes(name)) {
      world.names.push(name)
      world.homes.push(home)
    }
    world.arrivals.set(name, world.step)
    world.renewals.set(name, world.bank.attempts.length)
    if (isGated) world.gated.add(name)
    for (const each of acknowledged) world.acknowledged.push({ ...each, space: name })
  }

  /** Whether a space with the beats of a frame is on the disk, and no import in progress. A schedule may make another one. */
  private async isThere(name: string, { beat, hash: digest }: Export.End): Promise<boolean> {
    const open = this.world.memory.open(name, { create: false })
    const exit = await Effect.runPromiseExit(Effect.scoped(Effect.map(open, (store) => store.entry(beat)?.hash)))
    return Exit.isSuccess(exit) && exit.value === digest
  }

  /** Removes a space and restores it from a point of its chain. Without one, it stays. */
  async restore(name: string, step: Step): Promise<void> {
    const { world } = this
    const chain = this.chains.get(name)
    if (chain === undefined) return
    const points = chain.slice(0, 1 + step.numbers[1] % chain.length)
    this.chains.set(name, points)
    const number = world.names.indexOf(name)
    const home = present(world.homes[number])
    const point = present(points.at(-1))
    await world.remove(name)
    if (await this.bring(name, home, { frames: points.map(({ frame }) => frame), end: point.end, why: "restore", step })) {
      world.count("restore")
      for (const id of point.untouched) world.touched.delete(id)
      this.arrive(name, home, point)
      const space = step.numbers[2] % 2 === 0 ? await world.space(number) : undefined
      if (space !== undefined) await this.release(space)
    } else {
      this.forget(name)
      world.rollbacks.set(name, world.step)
      await world.furnish(number)
    }
  }

  /** Releases a detached space. */
  async release(space: Space): Promise<void> {
    const { world } = this
    world.ask(space.control.releaseDetached(), (exit) => Exit.isSuccess(exit) && world.count("release"))
    await world.quiet()
  }

  /** Brings frames in as a space, which is whole or absent at the end. Returns whether it is there. */
  private async bring(name: string, home: number, { end, frames, step, why }: Bringing): Promise<boolean> {
    const { world } = this
    const { numbers: [kind, size, turns, cut] } = step
    this.brought.set(name, frames)
    world.disk.arrives(name)
    let place = { frame: 0, next: 0 }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const pieces = present(frames[place.frame]).slice(place.next)
      const isCut = attempt < 2 && cut % 3 === attempt
      const bytes = Stream.fromIterable(isCut ? pieces.slice(0, 1 + size % pieces.length) : pieces)
      const imports = await this.importsOf(home)
      const part = { space: name, id: `import-${kind % 1000}`, why, frame: place.frame, frames: frames.length, from: place.next, bytes }
      const answer = world.ask(imports.take(part))
      await (isCut ? world.pass(turns % 8) : world.quiet())
      const exit = answer()
      if (isCut || exit === undefined) {
        world.kill(home)
        await world.boot(home)
        world.count("resumed import")
      }
      if (await this.isThere(name, end)) return true
      place = exit !== undefined && Exit.isSuccess(exit) && !isCut && !("root" in exit.value) ? exit.value : { frame: 0, next: 0 }
    }
    await world.remove(name)
    return false
  }

  /** The imports of the present process of a host. The first opening of a space compares it with the newest frame. */
  private async importsOf(home: number): Promise<Imports> {
    const { world } = this
    if (world.hosts[home]?.kernel === undefined) await world.boot(home)
    const { kernel, life } = present(world.hosts[home])
    const key = `${home} ${life}`
    const known = this.imports.get(key)
    if (known !== undefined) return known
    const opened = present(kernel)
    const space: typeof opened.space = (name, options) =>
      Effect.andThen(Effect.promise(() => this.compare(name)), opened.space(name, options))
    const made = new Imports({ kernel: over(opened, { space }), hash }, { fork: () => Effect.runFork(Effect.void), limit: () => 16 })
    this.imports.set(key, made)
    return made
  }

  /** A whole import has the records of its frame. */
  private async compare(name: string): Promise<void> {
    this.world.count("import")
    const frames = this.brought.get(name) ?? []
    // A range has no documents.
    if (frames.length !== 1) return
    const wanted = await linesOf(present(frames[0]))
    const found = await linesOf(await stored(this.world.memory, name))
    const at = wanted.findIndex((line, i) => line !== found[i])
    if (at >= 0) this.world.wrong.push(`${name} has ${found[at]?.slice(0, 300)} instead of ${wanted[at]?.slice(0, 300)}`)
    if (found.length > wanted.length) this.world.wrong.push(`${name} has ${found.length} records instead of ${wanted.length}`)
  }
}

/** An action, with the way to give its space a signal. */
interface Asked {
  readonly step: Step
  readonly load: () => Promise<void>
}

/** Frames to bring in. */
interface Bringing {
  readonly frames: ReadonlyArray<Frame>
  /** The end of the last one. */
  readonly end: Export.End
  readonly why: "copy" | "restore"
  readonly step: Step
}

/** Whether an export ends by name. */
const isExpected = (error: unknown): boolean => {
  const { code } = error as { readonly code?: unknown }
  return typeof code === "string" || String(error).includes("the process is over")
}
